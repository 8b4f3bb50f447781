"""Every link and every path that a page or a comment names exists; every path of the map, and every test it names."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A path from the root, as prose and comments write one; what holds a placeholder (ROOM, NN_name, *) is not checked.
PATH = re.compile(r"(?<![\w/.-])((?:emulator|gpu|tests|tutorials|docs)/[\w./-]*[\w/])")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
SKIP = re.compile(r"[A-Z]{2,}(?![\w.-]*\.(?:md|txt|cmake))|NN_")


def named_paths(text):
    text = re.sub(r"^ *#include.*$", "", text, flags=re.MULTILINE)  # the compiler sees to those
    for match in PATH.finditer(text):
        name = match.group(1).rstrip("./")
        following = text[match.end(): match.end() + 1]
        if not SKIP.search(name.replace("CMakeLists", "")) and following not in {"*", "{", "<", "$"}:
            yield name


def exists(name):
    if (ROOT / name).exists():
        return True
    # "emulator/number/e4m3" stands for the files of that name
    return any((ROOT / name).parent.glob(Path(name).name + ".*")) if (ROOT / name).parent.is_dir() else False


def pages():
    yield ROOT / "README.md"
    for folder in ("docs", "tutorials"):
        yield from sorted((ROOT / folder).rglob("*.md"))


def sources():
    for folder in ("emulator", "gpu", "tests", "tutorials", "docs"):
        for suffix in ("hpp", "cpp", "cu", "cuh", "py", "sh", "cmake", "txt", "in"):
            yield from sorted((ROOT / folder).rglob(f"*.{suffix}"))


def main():
    problems = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for target in LINK.findall(text):
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                problems.append(f"{page.relative_to(ROOT)}: link to {target}, which does not exist")
    for file in [*pages(), *sources()]:
        if file == Path(__file__).resolve():
            continue
        for name in named_paths(file.read_text(encoding="utf-8")):
            if not exists(name):
                problems.append(f"{file.relative_to(ROOT)}: names {name}, which does not exist")
    print("\n".join(problems) or "every link and path exists")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
