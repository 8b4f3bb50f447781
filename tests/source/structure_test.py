"""The shape of the tree: small files, a test beside every source file, headers that begin with words, no machine's paths."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE_SUFFIXES = {".cpp", ".hpp", ".h", ".cu", ".cuh"}
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".md", ".txt", ".cmake", ".json", ".sh", ".py", ".in", ".css", ".html"}
MOST_LINES = 400

# Files whose test is not tests/ROOM/NAME_test.cpp, and where they are tested instead.
TESTED_ELSEWHERE = {
    "emulator/cli/command.hpp": "tests/cli/main_test.cpp",
    "emulator/engine/engines.hpp": "tests/engine/engine_test.cpp",
    "emulator/engine/gpu_absent.cpp": "tests/cli/gemm_engines_test.cpp",
    "emulator/engine/gpu_engine.cpp": "tests/engine/engine_test.cpp",
    "emulator/engine/gpu_quantize_engine.cpp": "tests/engine/quantize_engine_test.cpp",
    "emulator/engine/machine_engine.cpp": "tests/engine/engine_test.cpp",
    "emulator/engine/model_engine.cpp": "tests/engine/engine_test.cpp",
    "emulator/engine/trace_file.cpp": "tests/cli/trace_test.cpp",
    "emulator/engine/trace_file.hpp": "tests/cli/trace_test.cpp",
    "emulator/engine/wgmma_chunks.hpp": "tests/engine/engine_test.cpp",
    "emulator/layout/integers.hpp": "tests/layout/fragment_test.cpp",
    "emulator/machine/access.hpp": "tests/machine/shared_memory_test.cpp",
    "emulator/machine/block.hpp": "tests/machine/launch_test.cpp",
    "emulator/machine/fault.hpp": "tests/machine/memory_test.cpp",
    "emulator/machine/operations.hpp": "tests/machine/memory_test.cpp",
    "emulator/machine/site.hpp": "tests/machine/memory_test.cpp",
    "emulator/machine/thread.hpp": "tests/machine/cluster_test.cpp",
    "emulator/model/entry_checks.cpp": "tests/model/entry_test.cpp",
    "emulator/model/entry_checks.hpp": "tests/model/entry_test.cpp",
    "emulator/model/tile_dot.cpp": "tests/model/tile_test.cpp",
    "emulator/model/tile_group.cpp": "tests/model/tile_test.cpp",
    "emulator/model/tile_lanes.cpp": "tests/model/tile_test.cpp",
    "emulator/number/lanes/avx2.hpp": "tests/number/lanes/lanes_test.cpp",
    "emulator/number/lanes/avx512.hpp": "tests/number/lanes/lanes_test.cpp",
    "emulator/number/lanes/dot.hpp": "tests/number/lanes/lanes_test.cpp",
    "emulator/number/lanes/dot_avx2.cpp": "tests/number/lanes/lanes_test.cpp",
    "emulator/number/lanes/dot_avx512.cpp": "tests/number/lanes/lanes_test.cpp",
    "emulator/mpi/share_gemm.cpp": "tests/mpi/main_test.cpp",
    "emulator/mpi/share_gemm.hpp": "tests/mpi/main_test.cpp",
    "emulator/mpi/shared_output.cpp": "tests/mpi/main_test.cpp",
    "emulator/mpi/shared_output.hpp": "tests/mpi/main_test.cpp",
    "emulator/mpi/team.cpp": "tests/mpi/main_test.cpp",
    "emulator/mpi/team.hpp": "tests/mpi/main_test.cpp",
    "emulator/mpi/watch.cpp": "tests/mpi/main_test.cpp",
    "emulator/mpi/watch.hpp": "tests/mpi/main_test.cpp",
    "emulator/number/panel.hpp": "tests/number/group_step_test.cpp",
    "emulator/number/quantize_avx2.cpp": "tests/number/quantize_test.cpp",
    "emulator/number/quantize_avx512.cpp": "tests/number/quantize_test.cpp",
    "emulator/number/quantize_loops.hpp": "tests/number/quantize_test.cpp",
    "emulator/number/quantize_path.hpp": "tests/number/all_floats_test.cpp",
    "emulator/number/quantize_portable.cpp": "tests/number/quantize_test.cpp",
    "emulator/model/slices.cpp": "tests/model/gemm_test.cpp",
    "emulator/model/slices.hpp": "tests/model/gemm_test.cpp",
    "emulator/ptx/barrier_cluster.hpp": "tests/ptx/bar_test.cpp",
    "emulator/ptx/griddepcontrol.hpp": "tests/ptx/vocabulary_test.cpp",
    "emulator/ptx/shared_memory.hpp": "tests/ptx/special_registers_test.cpp",
    "emulator/ptx/shfl_sync.hpp": "tests/ptx/elect_sync_test.cpp",
    "emulator/ptx/words.hpp": "tests/ptx/vocabulary_test.cpp",
    "emulator/report/cause.cpp": "tests/cli/diff_test.cpp",
    "emulator/report/cause.hpp": "tests/cli/diff_test.cpp",
    "emulator/report/requantize.cpp": "tests/cli/diff_test.cpp",
    "emulator/report/requantize.hpp": "tests/cli/diff_test.cpp",
    "emulator/support/error.hpp": "tests/model/entry_test.cpp",
}
# Tests of more than one file.
TESTS_OF_SEVERAL = {
    "tests/cli/gemm_engines_test.cpp",
    "tests/cli/trace_test.cpp",
    "tests/cli/wgmma_engines_test.cpp",
    "tests/engine/group_edges_test.cpp",
    "tests/engine/group_trace_test.cpp",
    "tests/engine/grouped_test.cpp",
    "tests/engine/ladder_test.cpp",
    "tests/machine/broken_pipeline_test.cpp",
    "tests/machine/strict_test.cpp",
    "tests/model/paths_test.cpp",
    "tests/number/all_floats_test.cpp",
    "tests/number/cuda_fp8_oracle_test.cpp",
}


def project_files():
    """Every file of the project: what the folders hold, less build folders and what tools leave behind."""
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        if parts[0].startswith("build") or parts[0] in {".git", ".cache"} or "__pycache__" in parts:
            continue
        if path.is_file():
            yield path


def too_long(path, text):
    lines = text.count("\n")
    if path.suffix in SOURCE_SUFFIXES and lines > MOST_LINES:
        yield f"{lines} lines; no source file has more than {MOST_LINES}"


def header_without_introduction(path, text):
    if path.suffix == ".hpp" and not text.startswith("//"):
        yield "a header opens with a comment that says what it is"
    if path.suffix == ".hpp" and "#pragma once" not in text:
        yield "#pragma once is missing"


def machine_paths(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"(^|[^\w.])/(work|root|home)/", line) and path != Path(__file__).resolve():
            yield f"line {number} names a path of one machine"


def untested(path, text):
    """Every file of a room of the emulator has a test of its name; of the program's files, every command has."""
    relative = path.relative_to(ROOT)
    if relative.parts[0] != "emulator" or path.suffix not in {".hpp", ".cpp"} or relative.parts[1] in {"bench", "include"}:
        return
    if relative.parts[1] == "cli" and not re.search(r"^void add_\w+\(CLI::App& app", text, re.MULTILINE):
        return
    test = Path("tests", *relative.parts[1:-1], path.stem + "_test.cpp")
    if not (ROOT / test).exists() and str(relative) not in TESTED_ELSEWHERE:
        yield f"no {test}, and no other test named in tests/source/structure_test.py"


def case_that_reads_as_an_option(path, text):
    """ctest hands a case's name to the test program, which takes a leading - for an option."""
    for match in re.finditer(r'(?:TEST_CASE|SCENARIO)\w*\(\s*"(-[^"]*)"', text):
        yield f'the name of case "{match[1]}" begins with -, so that ctest cannot run it'


def needless_entries():
    """A file with a test of its own needs no other."""
    for name in sorted(TESTED_ELSEWHERE):
        own = Path("tests", *Path(name).parts[1:-1], Path(name).stem + "_test.cpp")
        if (ROOT / own).exists():
            yield f"tests/source/structure_test.py says where {name} is tested, but {own} exists"


def test_of_nothing(path, _):
    """A test in a room of the emulator is named after the file it tests."""
    relative = path.relative_to(ROOT)
    room = ROOT / "emulator" / "/".join(relative.parts[1:-1])
    if str(relative) in TESTS_OF_SEVERAL or len(relative.parts) < 3 or not room.is_dir():
        return
    if relative.parts[0] == "tests" and path.name.endswith("_test.cpp"):
        stem = path.name.removesuffix("_test.cpp")
        if not any((room / (stem + suffix)).exists() for suffix in (".hpp", ".cpp")):
            yield f"tests no file of {room.relative_to(ROOT)}"


def main():
    problems, files = [], 0
    for path in project_files():
        if path.suffix not in TEXT_SUFFIXES and path.name not in {"run"}:
            continue
        files += 1
        text = path.read_text(encoding="utf-8")
        for check in (too_long, header_without_introduction, machine_paths, untested, test_of_nothing,
                      case_that_reads_as_an_option):
            problems += [f"{path.relative_to(ROOT)}: {sentence}" for sentence in check(path, text)]
    for name in {*TESTED_ELSEWHERE, *TESTED_ELSEWHERE.values(), *TESTS_OF_SEVERAL}:
        if not (ROOT / name).exists():
            problems.append(f"tests/source/structure_test.py names {name}, which does not exist")
    problems += needless_entries()
    print("\n".join(problems) or f"{files} files, nothing to say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
