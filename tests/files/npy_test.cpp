#include "emulator/files/npy.hpp"

#include <array>

#include "tests/catch.hpp"
#include "tests/files/hostile.hpp"
#include "tests/folder.hpp"

using namespace fp8twin;

namespace {

/// An npy file built by hand.
std::string file_of(std::string_view header, std::string_view data, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return text.append(header).append(data);
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string refusal(const std::string& bytes) {
  const test::Folder folder;
  const std::string path = folder / "x.npy";
  test::write_text(path, bytes);
  const std::string error = test::error_of([&] { read_npy(path); });
  INFO(error);
  REQUIRE(error.starts_with(path + ": "));
  CHECK(error.find('\n') == std::string::npos);
  return error.substr(path.size() + 2);
}

std::string refused_header(std::string_view header, std::string_view data = "12345678") {
  return refusal(file_of(header, data));
}

Tensor read_tensor(const std::string& bytes, TensorFile& file) {
  const test::Folder folder;
  test::write_text(folder / "x.npy", bytes);
  file = read_npy(folder / "x.npy");
  REQUIRE(file.tensors.size() == 1);
  return file.tensors.front();
}

}  // namespace

TEST_CASE("versions 1, 2 and 3 read alike; keys in any order, either quote, commas or none at the end") {
  TensorFile file;
  for (const int version : {1, 2, 3}) {
    for (const std::string_view header : {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }    \n",
                                          "{\"shape\":(2,1,),\"fortran_order\":False,\"descr\":\"<f4\"}",
                                          "{ 'shape' : ( 2 , 1 ) , 'descr':'<f4','fortran_order':False}"}) {
      const Tensor tensor =
          read_tensor(file_of(header, std::string("\0\0\x80\x3f\0\0\0\xc0", 8), version), file);
      CHECK(tensor.name == "data");
      CHECK(tensor.dtype == DType::f32);
      CHECK(tensor.shape == Shape{2, 1});
      CHECK(tensor.as<float>()[0] == 1.0f);  // aligned, although these headers have odd lengths
      CHECK(tensor.as<float>()[1] == -2.0f);
      CHECK(file.metadata.empty());
    }
  }
}

TEST_CASE("the five types, and shapes of rank 0 and 1 and of size 0") {
  struct Row {
    std::string_view descr;
    DType dtype;
  };
  TensorFile file;
  for (const Row& row : {Row{"|u1", DType::u8}, Row{"<u2", DType::bf16}, Row{"<f2", DType::f16},
                         Row{"<f4", DType::f32}, Row{"<i4", DType::i32}}) {
    const std::string before =
        "{'descr': '" + std::string(row.descr) + "', 'fortran_order': False, 'shape': ";
    const std::string one(dtype_size(row.dtype), 'x');
    CHECK(read_tensor(file_of(before + "()}", one), file).dtype == row.dtype);
    CHECK(file.tensors[0].shape == Shape{});
    CHECK(read_tensor(file_of(before + "(1,)}", one), file).shape == Shape{1});
    CHECK(text_of(file.tensors[0].bytes) == one);
    CHECK(read_tensor(file_of(before + "(0,)}", ""), file).shape == Shape{0});
    CHECK(read_tensor(file_of(before + "(3, 0, 5)}", ""), file).shape == Shape{3, 0, 5});
  }
}

TEST_CASE("the bytes written are those of the format: version 1, data at a multiple of 64") {
  const test::Folder folder;
  const std::array<std::uint8_t, 2> codes{0x38, 0x80};
  const auto written = [&](DType dtype, const Shape& shape, std::span<const std::uint8_t> bytes) {
    write_npy(folder / "x.npy", {"any name", dtype, shape, std::as_bytes(bytes)});
    return test::read_text(folder / "x.npy");
  };
  const auto expected = [](std::string header, std::string_view data) {
    header.resize(128 - 10 - 1, ' ');
    return file_of(header + "\n", data);
  };
  for (const DType dtype : {DType::f8_e4m3, DType::f8_e5m2, DType::f8_e8m0, DType::u8}) {
    CHECK(written(dtype, {2}, codes) ==
          expected("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "\x38\x80"));
  }
  CHECK(written(DType::bf16, {}, codes) ==
        expected("{'descr': '<u2', 'fortran_order': False, 'shape': (), }", "\x38\x80"));
  CHECK(written(DType::f16, {1, 1}, codes) ==
        expected("{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1), }", "\x38\x80"));
  CHECK(written(DType::f32, {0, 7}, {}) ==
        expected("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7), }", ""));
  CHECK(written(DType::i32, {0}, {}) ==
        expected("{'descr': '<i4', 'fortran_order': False, 'shape': (0,), }", ""));
  const std::string long_header = written(DType::u8, Shape(64, 1), std::span(codes).first(1));
  CHECK(long_header.size() % 64 == 1);
  TensorFile file;
  CHECK(read_tensor(long_header, file).shape == Shape(64, 1));
}

TEST_CASE("a file that is no npy file, or cut short, or of a later version, is refused") {
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }";
  const std::string none = "and does not begin with \\x93NUMPY, version and length";
  CHECK(refusal("") == "is no npy file: it has 0 bytes " + none);
  CHECK(refusal("PK\x03\x04 a zip of arrays") == "is no npy file: it has 20 bytes " + none);
  CHECK(refusal(file_of(header, "").substr(0, 9)) == "is no npy file: it has 9 bytes " + none);
  CHECK(refusal(file_of(header, "", 2).substr(0, 11)) ==
        "is truncated: the header should have 0 bytes, and the file has 11");
  CHECK(refusal(file_of(header, "1234").substr(0, 40)) ==
        "is truncated: the header should have 57 bytes, and the file has 40");
  CHECK(refusal("\x93NUMPY\x02" + std::string("\0\xff\xff\xff\xff{}", 7))
            .find("should have 4294967295 bytes") != std::string::npos);
  CHECK(refusal(file_of(header, "1234", 4)) ==
        "is an npy file of version 4.0; 1.0, 2.0 and 3.0 are supported");
  CHECK(refusal(file_of(header, "1234", 0)) ==
        "is an npy file of version 0.0; 1.0, 2.0 and 3.0 are supported");
  CHECK(refusal(file_of(header, "123")) == "has 3 bytes of data, too few for |u1 [4], which has 4");
  CHECK(refusal(file_of(header, "12345")) == "has 5 bytes of data, too many for |u1 [4], which has 4");
}

TEST_CASE("what numpy can store and we do not take is refused by name") {
  const auto descr = [](const std::string& text) {
    return refused_header("{'descr': " + text + ", 'fortran_order': False, 'shape': (1,)}");
  };
  for (const std::string name : {"<f8", ">f4", ">u2", "<i8", "|b1", "|O", "<U3", "", "<c8"}) {
    CHECK(descr("'" + name + "'") == "dtype \"" + name + "\" is not supported; |u1 <u2 <f2 <f4 <i4 are");
  }
  CHECK(descr("'<V1'") ==
        "dtype \"<V1\" is not supported; |u1 <u2 <f2 <f4 <i4 are (save FP8 as uint8 and BF16 as uint16: "
        "numpy's view does it)");
  CHECK(descr("[('x', '<f4')]") ==
        "descr is a list, a structured type; one of |u1 <u2 <f2 <f4 <i4 is needed");
  CHECK(refused_header("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}") ==
        "is stored in Fortran order; C order is needed (numpy.ascontiguousarray makes it)");
}

TEST_CASE("a shape that is negative or too large is refused") {
  const auto shape = [](const std::string& text) {
    return refused_header("{'descr': '|u1', 'fortran_order': False, 'shape': " + text + "}");
  };
  const std::string reason =
      "shape is negative or too large: at most 64 extents and 2^48 elements are allowed";
  CHECK(shape("(-8,)") == reason);
  CHECK(shape("(99999999999999999999,)") == reason);
  CHECK(shape("(-99999999999999999999,)") == reason);
  CHECK(shape("(4294967296, 4294967296)") == reason);
  CHECK(shape("(0, 4294967296, 4294967296)") == reason);
  std::string ones = "(1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  CHECK(shape(ones + ")") == reason);
}

TEST_CASE("a header that is no such dictionary is refused with the place where it breaks") {
  const std::string broken = "the header is not the dictionary of an npy file: unexpected at byte ";
  CHECK(refused_header("") == broken + "0 of 0: \"\"");
  CHECK(refused_header("[1]") == broken + "0 of 3: \"[1]\"");
  CHECK(refused_header("{'descr': '|u1'") == broken + "15 of 15: \"\"");
  CHECK(refused_header("{'descr' '|u1'}") == broken + "9 of 15: \"'|u1'}\"");
  CHECK(refused_header("{'descr': |u1}").find(broken) == 0);
  CHECK(refused_header("{'descr': 'u").find(broken) == 0);
  CHECK(refused_header("{'descr': '\\x7cu1', 'fortran_order': False, 'shape': (8,)}").find(broken) == 0);
  CHECK(refused_header("{'descr': '|u1', 'fortran_order': 0, 'shape': (8,)}").find(broken) == 0);
  CHECK(refused_header("{'descr': '|u1', 'fortran_order': False, 'shape': (8)}").find(broken) == 0);
  CHECK(refused_header("{'descr': '|u1', 'fortran_order': False, 'shape': [8]}").find(broken) == 0);
  CHECK(refused_header("{'descr': '|u1', 'fortran_order': False, 'shape': (8, x)}").find(broken) == 0);
  CHECK(refused_header("{'descr': '|u1', 'fortran_order': False, 'shape': (8.0,)}").find(broken) == 0);
  CHECK(refused_header("{'descr': '|u1', 'fortran_order': False, 'shape': (8,").find(broken) == 0);
  CHECK(refused_header("{'descr': '|u1', 'fortran_order': False, 'shape': (8,)} 1").find(broken) == 0);
  CHECK(refused_header(std::string("{'descr': '|u1', 'fortran_order': False, 'shape': (8,)\0}", 56))
            .find(broken) == 0);
  CHECK(refused_header("{'descr': '|u1', 'fortran_order': False}") == "the header lacks shape");
  CHECK(refused_header("{'descr': '|u1', 'shape': (8,)}") == "the header lacks fortran_order");
  CHECK(refused_header("{}") == "the header lacks descr");
  CHECK(refused_header("{'descr': '|u1', 'descr': '|u1'}") ==
        "the header has the key \"descr\" twice, or no npy file has it");
  CHECK(refused_header("{'more': '|u1'}") == "the header has the key \"more\" twice, or no npy file has it");
}

TEST_CASE("damaged files are either refused with a sentence or read as what they say") {
  const test::Folder folder;
  const std::string path = folder / "x.npy";
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  const std::vector<std::string_view> pieces{
      "{",     "}",           "(",   ")",   ",",   ":",       "'",       "\"", "0",  "-1", "2",   "True",
      "False", "99999999999", "|u1", "<u2", "<i4", "'descr'", "'shape'", " ",  "\\", "[",  "\xff"};
  int refused = 0, read = 0;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::string data(24, 'd');
    test::write_text(
        path, i % 2 ? file_of(test::mutate(header, header.size(), pieces, i), data)
                    : test::mutate(file_of(header, data, 1 + static_cast<int>(i / 2 % 3)), 20, pieces, i));
    try {
      const TensorFile file = read_npy(path);
      ++read;
      const Tensor& tensor = file.at("data");
      REQUIRE(tensor.bytes.size() == static_cast<std::size_t>(tensor.elements()) * dtype_size(tensor.dtype));
      write_npy(folder / "copy.npy", tensor);
      REQUIRE(text_of(read_npy(folder / "copy.npy").at("data").bytes) == text_of(tensor.bytes));
    } catch (const Error& error) {
      ++refused;
      REQUIRE(std::string_view(error.what()).starts_with(path + ": "));
    }
  }
  CHECK(refused > 2500);
  CHECK(read > 30);
}
