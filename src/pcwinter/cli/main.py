"""The command line: the group of commands, and errors as one sentence.

At first only click is imported. Each command imports what it needs, so that --help is fast.
"""

import os
import re
import sys
import traceback

import click

from pcwinter.cli.experiments import judge, reproduce
from pcwinter.cli.look import compare, completion, datasets, report, show
from pcwinter.cli.value import value

EXPECTED = (ValueError, TypeError, OSError, FloatingPointError, RuntimeError, MemoryError)  # reported in one sentence

KINDS: dict[type[OSError], str] = {  # what the path is
    IsADirectoryError: "is a directory, expected a file",
    FileExistsError: "is a file, expected a directory",
    NotADirectoryError: "is below a file, expected a directory",
}


class InOrder(click.Group):
    """A group that lists its commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they were added."""
        return list(self.commands)


@click.group(cls=InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="pcwinter", message="pcwinter %(version)s")
def cli() -> None:
    """Find out what every node and edge of a graph is worth to a graph neural network (PC-Winter values).

    \b
      pcwinter value cora --out runs/cora      value a graph until the values have converged
      pcwinter show runs/cora                  print the values
      pcwinter report runs/cora                write runs/cora/report.html, a page to share
    """


for command in (value, show, compare, report, reproduce, judge, datasets, completion):
    cli.add_command(command)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code; after an expected error, print one sentence and return 2."""
    try:
        code = cli.main(arguments, prog_name="pcwinter", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        return 0
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "pcwinter"
        return _complain(f"{where}: {' '.join(error.format_message().split())} See `{where} --help`.")
    except click.Abort:
        return _complain("pcwinter: interrupted.", 130)
    except BrokenPipeError:  # such as `pcwinter show | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except EXPECTED as error:
        if os.environ.get("PCWINTER_TRACEBACK"):
            traceback.print_exc()
        sentence = as_options(" ".join(str(error).split())) or type(error).__name__
        if isinstance(error, OSError) and error.strerror and error.filename is not None:
            sentence = f"{error.filename} {KINDS.get(type(error)) or f'cannot be used ({error.strerror.lower()})'}"
            sentence += ": check or change the path"
        return _complain(f"pcwinter: {sentence}")
    return int(code or 0)


def as_options(sentence: str) -> str:
    """A library message with command-line options instead of arguments: max_seconds=90 becomes --max-seconds 90.

    What is in quotes or part of a path is the user's own and stays. A word such as "memory" is an argument at the start
    of a sentence, before "is" and a value, and after a verb that asks for another value.
    """
    commands: tuple[click.Command, ...] = (value, show, reproduce, judge)
    names = {option.name for command in commands for option in command.params if isinstance(option, click.Option)}
    word = rf"(?P<name>{'|'.join(sorted(map(str, names), key=len, reverse=True))})"
    pattern = (
        rf"(?<![\w./'-]){word}(?![\w/-])(?P<assigned>=(?P<given>True|'[^']*'|[\w.]+))?"  # not in a path
        r"|'[^']*'"
    )

    def option(found: re.Match[str]) -> str:
        name, given = found["name"], found["given"]
        before, after = sentence[: found.start()], sentence[found.end() :]
        if name is None or not (
            found["assigned"]
            or "_" in name
            or (re.search(r"(^|\(|; )$", before) and re.match(" (is|has|and|needs) ", after))
            or re.match(r" is ['\d-]", after)
            or re.search(r"\b(raise|lower|correct|leave out) $", before)
        ):
            return found[0]
        flag = f"--{name.replace('_', '-')}"
        return flag if given in (None, "True") else f"{flag} {given.strip(chr(39))}"

    return re.sub(pattern, option, sentence)


def _complain(sentence: str, code: int = 2) -> int:
    click.echo(sentence, err=True)
    return code
