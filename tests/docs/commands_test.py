"""Runs the commands that the pages show and compares what they print with what the pages say.

A fenced block marked `sh` is run, in a fresh folder for each page that sees the project's folders, with the built program
on PATH. If the next block is marked `text`, the output must be equal to it, line by line; a line `...` stands for any
lines. A block that should fail says so in its first line: `# exit status 1`. Blocks with another mark (`bash`: commands
that install or build) are not run; a comment `<!-- sh: COMMAND -->` is run like a block, unseen by the reader.

    commands_test.py --build build                     checks README.md, docs and tutorials
    commands_test.py --build build --update PAGE...    writes what the commands print into the pages
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$|^<!-- (sh): (.*?) -->$", re.MULTILINE | re.DOTALL)


def matches(expected, actual):
    """True if the lines agree, where an expected line "..." stands for any number of lines."""
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + "\n"
                      for line in expected.splitlines())
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in actual.splitlines())) is not None


def run(commands, folder, build):
    wanted = re.match(r"# exit status (\d+)", commands)
    environment = os.environ | {"PATH": f"{build}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-e", "-c", commands], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout, done.returncode == (int(wanted.group(1)) if wanted else 0), done.returncode


def is_command(block):
    return "sh" in (block.group(1), block.group(3))


def check(page, build, update):
    text = page.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    problems, replaced = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("emulator", "gpu", "tests", "tutorials", "docs"):
            if (ROOT / name).exists():
                os.symlink(ROOT / name, f"{folder}/{name}")
        os.symlink(build, f"{folder}/build")
        for block, after in zip(blocks, [*blocks[1:], None]):
            if not is_command(block):
                continue
            commands = block.group(2) or block.group(4)
            where = f"{page.relative_to(ROOT)}, line {text[:block.start()].count(chr(10)) + 1}"
            output, as_wanted, status = run(commands, folder, build)
            if not as_wanted:
                problems.append(f"{where}: exit status {status}\n{commands}\n{output}")
            elif after and after.group(1) == "text":
                if update:
                    replaced.append((after.span(2), output if output.endswith("\n") else output + "\n"))
                elif not matches(after.group(2), output):
                    problems.append(f"{where}: the page says\n{after.group(2)}but it printed\n{output}")
    for (start, end), output in reversed(replaced):
        text = text[:start] + output + text[end:]
    if update:
        page.write_text(text, encoding="utf-8")
    return sum(map(is_command, blocks)), problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("pages", type=Path, nargs="*")
    options = parser.parse_args()
    pages = [page.resolve() for page in options.pages]
    pages = pages or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "tutorials").rglob("*.md"))]
    count, problems = 0, []
    for page in pages:
        blocks, found = check(page, options.build.resolve(), options.update)
        count += blocks
        problems += found
    print("\n".join(problems) or f"{count} blocks of commands ran and printed what the pages say")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
