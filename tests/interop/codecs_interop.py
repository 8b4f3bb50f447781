"""The opinion of ml_dtypes and numpy on our codecs and on two recipes of `fp8twin quantize`.

Usage: codecs_interop.py INTEROP_CODEC_TOOL FP8TWIN
"""
import itertools
import os
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import safetensors.numpy

TOOL, FP8TWIN = sys.argv[1:3]
DTYPES = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e8m0": ml_dtypes.float8_e8m0fnu,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
}
random = np.random.default_rng(20261130)
checks = itertools.count()


def check(condition, *context):
    next(checks)
    if not condition:
        sys.exit(f"codecs_interop: check failed: {context}")


def tool(direction, codec, words, dtype):
    done = subprocess.run([TOOL, direction, codec], input=words.tobytes(), capture_output=True, check=True)
    return np.frombuffer(done.stdout, dtype)


def bits_of(array):
    return array.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[array.itemsize])


def check_same(ours, theirs, inputs, *context):
    """Equal in bits, but that a NaN equals any NaN: the packages keep payloads, SM90 does not."""
    both_nan = np.isnan(ours.astype(np.float32)) & np.isnan(theirs.astype(np.float32))
    wrong = np.flatnonzero((bits_of(ours) != bits_of(theirs)) & ~both_nan)
    if wrong.size:
        first = wrong[0]
        check(False, *context, f"{wrong.size} differ, first at input {inputs[first]!r}", ours[first], theirs[first])
    next(checks)


def many_floats():
    """Every BF16 and binary16 value and its two neighbours in binary32, and four million random words."""
    words = np.arange(65536, dtype=np.uint32)
    coarse = np.concatenate([words << 16, bits_of(words.astype(np.uint16).view(np.float16).astype(np.float32))])
    words = np.concatenate([coarse, coarse - np.uint32(1), coarse + np.uint32(1),
                            random.integers(0, 1 << 32, 1 << 22, dtype=np.uint32)])
    return words.view(np.float32)


def check_decode():
    for codec, dtype in DTYPES.items():
        size = np.dtype(dtype).itemsize
        codes = np.arange(256 ** size, dtype={1: np.uint8, 2: np.uint16}[size])
        check_same(tool("decode", codec, codes, np.float32), codes.view(dtype).astype(np.float32), codes, "decode", codec)


def check_encode():
    x = many_floats()
    nan = np.isnan(x)
    with np.errstate(all="ignore"):
        for codec, plain in [("e4m3", "e4m3-plain"), ("e5m2", "e5m2-plain"), ("bf16", "bf16"), ("f16", "f16")]:
            dtype = DTYPES[codec]
            theirs = x.astype(dtype)
            check_same(tool("encode", plain, x, dtype), theirs, x, "encode", plain)
            if codec == plain:
                continue
            # The packages do not saturate, so clamp first; and every NaN of ours is 0x7f.
            largest = np.float32(ml_dtypes.finfo(dtype).max)
            ours = tool("encode", codec, x, dtype)
            check_same(ours, np.clip(x, -largest, largest).astype(dtype), x, "encode", codec)
            check((bits_of(ours)[nan] == 0x7F).all(), "NaN", codec)
            signed = bits_of(tool("encode", plain, x, dtype))[nan]
            check((signed == bits_of(theirs)[nan] | 0x7F).all(), "sign of NaN", codec)


def deepgemm(x, block, on_cuda):
    """DeepGEMM's formula in numpy's binary32. On CUDA tensors a division by a constant is a multiplication."""
    rows, columns = x.shape
    codes, scales = np.empty(x.shape, ml_dtypes.float8_e4m3fn), []
    for top in range(0, rows, block[0]):
        scales.append([])
        for left in range(0, columns, block[1]):
            part = np.s_[top:top + block[0], left:left + block[1]]
            amax = np.maximum(np.abs(x[part]).max(), np.float32(1e-4))
            scale = amax * (np.float32(1) / np.float32(448)) if on_cuda else amax / np.float32(448)
            codes[part] = (x[part] * (np.float32(1) / scale)).astype(ml_dtypes.float8_e4m3fn)
            scales[-1].append(scale)
    return codes, np.array(scales, np.float32)


def check_recipes(folder):
    source, made = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    x = random.standard_normal((200, 700), np.float32) * np.exp2(random.integers(-30, 30, (200, 700))).astype(np.float32)
    x[:, :256] = random.standard_normal((200, 256), np.float32)
    x = x.astype(ml_dtypes.bfloat16)
    safetensors.numpy.save_file({"x": x}, source)
    for recipe, on_cuda in [("deepgemm", True), ("deepgemm-cpu", False)]:
        for name, block in [("1x128", (1, 128)), ("128x128", (128, 128))]:
            subprocess.run([FP8TWIN, "quantize", source, made, "--recipe", recipe, "--block", name],
                           capture_output=True, check=True)
            with open(made, "rb") as file:
                tensors = dict(safetensors.deserialize(file.read()))
            codes, scales = deepgemm(x.astype(np.float32), block, on_cuda)
            check(bytes(tensors["x"]["data"]) == codes.tobytes(), recipe, name, "codes")
            check(bytes(tensors["x_scale"]["data"]) == scales.tobytes(), recipe, name, "scales")


check_decode()
check_encode()
with tempfile.TemporaryDirectory() as temporary:
    check_recipes(temporary)
print(f"codecs_interop: {next(checks)} checks passed with numpy {np.__version__}, ml_dtypes {ml_dtypes.__version__}")
