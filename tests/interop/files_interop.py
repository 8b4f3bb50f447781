"""Files cross the fence both ways, byte for byte: the packages safetensors and numpy against emulator/files.

Usage: files_interop.py INTEROP_FILE_TOOL FP8TWIN
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

TOOL, PROGRAM = sys.argv[1:]
DTYPES = {
    "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2,
    "F8_E8M0": ml_dtypes.float8_e8m0fnu,
    "BF16": ml_dtypes.bfloat16,
    "F16": np.float16,
    "F32": np.float32,
    "I32": np.int32,
    "U8": np.uint8,
}
SHAPES = [(), (1,), (0,), (7,), (3, 5), (0, 128), (128, 0), (2, 3, 4), (1, 1, 1, 1, 1)]
NPY_DTYPES = {"U8": "|u1", "BF16": "<u2", "F16": "<f2", "F32": "<f4", "I32": "<i4"}
random = np.random.default_rng(20261130)
checks = itertools.count()


def check(condition, *context):
    next(checks)
    if not condition:
        sys.exit(f"files_interop: check failed: {context}")


def tool(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True)


def describe(path):
    done = tool("describe", path)
    check(done.returncode == 0, path, done.stderr)
    return json.loads(done.stdout)


def fp8twin(*arguments):
    done = subprocess.run([PROGRAM, *arguments, "--json"], capture_output=True, text=True)
    check(done.returncode == 0, arguments, done.stderr)
    return json.loads(done.stdout)


def read_bits(path):
    """What the package safetensors finds in a file: name -> dtype, shape, bytes."""
    with open(path, "rb") as file:
        tensors = safetensors.deserialize(file.read())
    return {name: (t["dtype"], tuple(t["shape"]), bytes(t["data"])) for name, t in tensors}


def copy(source, target):
    done = tool("copy", source, target)
    check(done.returncode == 0, source, target, done.stderr)


def arrays():
    """Every dtype in every shape, of random bits: NaN payloads and subnormals must come through too."""
    for (name, dtype), shape in itertools.product(DTYPES.items(), SHAPES):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        yield f"{name} {shape} é", name, np.frombuffer(random.bytes(size), dtype).reshape(shape)


def check_safetensors(folder):
    written = {label: (dtype, array) for label, dtype, array in arrays()}
    metadata = {"seed": "1", "naïve": 'quote " and \\ and \n'}
    theirs, ours = os.path.join(folder, "theirs.safetensors"), os.path.join(folder, "ours.safetensors")
    safetensors.numpy.save_file({label: array for label, (_, array) in written.items()}, theirs, metadata)

    # they write, we read
    seen = describe(theirs)
    check(seen["metadata"] == metadata, seen["metadata"])
    check(len(seen["tensors"]) == len(written))
    for tensor in seen["tensors"]:
        dtype, array = written[tensor["name"]]
        check(tensor["dtype"] == dtype, tensor["name"])
        check(tuple(tensor["shape"]) == array.shape, tensor["name"])
        check(bytes.fromhex(tensor["bytes"]) == array.tobytes(), tensor["name"])

    # we write, they read
    copy(theirs, ours)
    with open(ours, "rb") as file:
        content = file.read()
    check(int.from_bytes(content[:8], "little") % 8 == 0, "header length is a multiple of 8")
    with safetensors.safe_open(ours, framework="np") as file:
        check(file.metadata() == metadata, file.metadata())
    tensors = dict(safetensors.deserialize(content))
    check(tensors.keys() == written.keys())
    for label, (dtype, array) in written.items():
        check(tensors[label]["dtype"] == dtype, label)
        check(tuple(tensors[label]["shape"]) == array.shape, label)
        check(bytes(tensors[label]["data"]) == array.tobytes(), label)
    plain = {k: v for k, v in written.items() if v[0] in ("F16", "F32", "I32", "U8")}  # what its NumPy half loads
    copy_of_plain = os.path.join(folder, "plain.safetensors")
    safetensors.numpy.save_file({label: array for label, (_, array) in plain.items()}, theirs)
    copy(theirs, copy_of_plain)
    for label, array in safetensors.numpy.load_file(copy_of_plain).items():
        check(array.dtype == plain[label][1].dtype and array.tobytes() == plain[label][1].tobytes(), label)


def check_npy(folder):
    theirs, ours = os.path.join(folder, "theirs.npy"), os.path.join(folder, "ours.npy")
    one, back = os.path.join(folder, "one.safetensors"), os.path.join(folder, "back.npy")
    for label, dtype, array in arrays():
        # they write, we read: versions 1, 2 and 3
        if dtype in NPY_DTYPES:
            bits = array.view(np.uint16) if dtype == "BF16" else array
            for version in [(1, 0), (2, 0), (3, 0)]:
                with open(theirs, "wb") as file:
                    np.lib.format.write_array(file, bits, version=version)
                (tensor,) = describe(theirs)["tensors"]
                check(tensor["name"] == "data" and tensor["dtype"] == dtype, label, version)
                check(tuple(tensor["shape"]) == array.shape, label, version)
                check(bytes.fromhex(tensor["bytes"]) == array.tobytes(), label, version)
            copy(theirs, back)
            with open(theirs, "wb") as file:
                np.save(file, bits)
            with open(theirs, "rb") as file, open(back, "rb") as other:
                check(file.read() == other.read(), label, "the whole file, header included")
        # we write, they read
        safetensors.numpy.save_file({"x": array}, one)
        copy(one, ours)
        loaded = np.load(ours, allow_pickle=False)
        check(loaded.dtype.str == NPY_DTYPES.get(dtype, "|u1"), label)
        check(loaded.shape == array.shape and loaded.tobytes() == array.tobytes(), label)


def check_refusals(folder):
    """What numpy can say and we do not take is refused by name, with status 2."""
    path = os.path.join(folder, "refused.npy")
    grid = np.arange(6, dtype=np.float32).reshape(2, 3)
    for array, reason in [
        (np.asfortranarray(grid), "Fortran order"),
        (grid.astype(">f4"), ">f4"),
        (grid.astype(np.float64), "<f8"),
        (grid.astype(ml_dtypes.float8_e4m3fn), "uint8"),
        (np.zeros(2, [("x", "<f4"), ("y", "<f4")]), "structured"),
    ]:
        np.save(path, array)
        done = tool("describe", path)
        check(done.returncode == 2 and done.stdout == "", reason)
        check(path in done.stderr and reason in done.stderr and done.stderr.count("\n") == 1, reason, done.stderr)
    path = os.path.join(folder, "refused.safetensors")
    for dtype in [np.float64, np.int64, np.bool_]:
        safetensors.numpy.save_file({"x": np.zeros(2, dtype)}, path)
        done = tool("describe", path)
        check(done.returncode == 2 and "is not supported" in done.stderr and '"x"' in done.stderr, dtype, done.stderr)


def check_random_and_inspect(folder):
    """Problem files of the program open in the package; inspect counts what NumPy counts."""
    path = os.path.join(folder, "random.safetensors")
    sizes = {"1d2d": ["--m", "3"], "1d1d": ["--m", "0"], "wgmma": ["--m", "64"], "masked": ["--groups", "3,0,5", "--max-m", "5"],
             "contiguous": ["--groups", "3,0,130"], "k-grouped": ["--m", "5", "--groups", "128,0,200"],
             "batched": ["--m", "5", "--groups", "2"]}
    for kind, size in sizes.items():
        k = [] if kind == "k-grouped" else ["--k", "192"]
        fp8twin("random", path, "--kind", kind, "--n", "8", *k, *size, "--distribution", "adversarial")
        theirs, ours = read_bits(path), fp8twin("inspect", path)
        check(ours["problem"]["kind"] == kind and ours["problem"]["n"] == 8, kind, ours["problem"])
        check({t["name"] for t in ours["tensors"]} == theirs.keys(), kind)
        for tensor in ours["tensors"]:
            dtype, shape, data = theirs[tensor["name"]]
            check((tensor["dtype"], tuple(tensor["shape"])) == (dtype, shape), kind, tensor)
            with np.errstate(invalid="ignore"):  # a signalling NaN is not an accident here
                values = np.frombuffer(data, DTYPES[dtype]).astype(np.float64)
            finite = values[np.isfinite(values)]
            check(tensor["nan"] == np.isnan(values).sum(), kind, tensor)
            check(tensor["inf"] == np.isinf(values).sum(), kind, tensor)
            check(tensor["zero"] == (finite == 0).sum() and tensor["negative"] == (finite < 0).sum(), kind, tensor)
            check(finite.size == 0 or [tensor["min"], tensor["max"]] == [finite.min(), finite.max()], kind, tensor)


def check_pack(folder):
    """A sharded checkpoint as the field writes it becomes a problem that holds the same bits."""
    rows, columns, k = 3, 200, 192
    weight = np.frombuffer(random.bytes(columns * k), ml_dtypes.float8_e4m3fn).reshape(columns, k)
    activation = np.frombuffer(random.bytes(rows * k), np.uint8).reshape(rows, k)
    weight_scale, scale = random.random((2, 2), np.float32), random.random((rows, 2), np.float32)
    shards = {"model-00001-of-00002.safetensors": {"layers.0.up.weight": weight},
              "model-00002-of-00002.safetensors": {"layers.0.up.weight_scale_inv": weight_scale}}
    for name, tensors in shards.items():
        safetensors.numpy.save_file(tensors, os.path.join(folder, name), {"format": "pt"})
    index = os.path.join(folder, "model.safetensors.index.json")
    with open(index, "w") as file:
        json.dump({"metadata": {"total_size": 1}, "weight_map": {t: name for name, ts in shards.items() for t in ts}}, file)
    x, x_scale = os.path.join(folder, "x.npy"), os.path.join(folder, "x_scale.npy")
    np.save(x, activation)
    np.save(x_scale, scale)
    out = os.path.join(folder, "packed.safetensors")
    packed = fp8twin("pack", out, f"a={x}:data", f"a_scale={x_scale}:data", f"b={index}:layers.0.up.weight")
    check((packed["kind"], packed["m"], packed["n"], packed["k"]) == ("1d2d", rows, columns, k), packed)
    check(read_bits(out) == {"a": ("F8_E4M3", (rows, k), activation.tobytes()), "a_scale": ("F32", (rows, 2), scale.tobytes()),
                             "b": ("F8_E4M3", (columns, k), weight.tobytes()),
                             "b_scale": ("F32", (2, 2), weight_scale.tobytes())})


with tempfile.TemporaryDirectory() as temporary:
    check_safetensors(temporary)
    check_npy(temporary)
    check_refusals(temporary)
    check_random_and_inspect(temporary)
    check_pack(temporary)
print(f"files_interop: {next(checks)} checks passed with numpy {np.__version__}, safetensors {safetensors.__version__}")
