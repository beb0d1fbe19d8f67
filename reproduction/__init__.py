"""The committed results of `pcwinter reproduce`, and the code that writes docs/reproduction.md from them."""
