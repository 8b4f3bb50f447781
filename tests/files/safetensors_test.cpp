#include "emulator/files/safetensors.hpp"

#include <cstring>

#include "tests/catch.hpp"
#include "tests/files/hostile.hpp"
#include "tests/folder.hpp"

using namespace fp8twin;

namespace {

/// A safetensors file built by hand: length, header, data.
std::string file_of(std::string_view header, std::string_view data) {
  std::string text(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  return text.append(header).append(data);
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The sentence that a file of these bytes is refused with, less the file's name, which it must begin with.
std::string refusal(const std::string& bytes) {
  const test::Folder folder;
  const std::string path = folder / "x.safetensors";
  test::write_text(path, bytes);
  const std::string error = test::error_of([&] { read_safetensors(path); });
  INFO(error);
  REQUIRE(error.starts_with(path + ": "));
  CHECK(error.find('\n') == std::string::npos);
  return error.substr(path.size() + 2);
}

std::string refused_header(std::string_view header, std::string_view data = "") {
  return refusal(file_of(header, data));
}

/// A header of one tensor "x"; the file has 8 bytes of data.
std::string refused_tensor(const std::string& entry) {
  return refused_header("{\"x\":" + entry + "}", "01234567");
}

constexpr std::array all_dtypes{DType::f8_e4m3, DType::f8_e5m2, DType::f8_e8m0, DType::bf16,
                                DType::f16,     DType::f32,     DType::i32,     DType::u8};

}  // namespace

TEST_CASE("a file written by hand reads as what it says, tensors in the order of their bytes") {
  const test::Folder folder;
  test::write_text(folder / "x", file_of(R"({"__metadata__":{"seed":"1","":"é"},)"
                                         R"("z":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                         R"("b":{"dtype":"BF16","shape":[],"data_offsets":[8,10]},)"
                                         R"("a":{"shape":[1,2],"data_offsets":[10,12],"dtype":"F8_E4M3"}}  )",
                                         std::string("\0\0\x80\x3f\0\0\0\xc0\x80\x3f\x38\xff", 12)));
  const TensorFile file = read_safetensors(folder / "x");
  CHECK(file.path == folder / "x");
  CHECK(file.metadata == Metadata{{"seed", "1"}, {"", "é"}});
  REQUIRE(file.tensors.size() == 3);
  CHECK(file.tensors[0].name == "z");
  CHECK(file.tensors[0].as<float>()[0] == 1.0f);
  CHECK(file.tensors[0].as<float>()[1] == -2.0f);
  CHECK(file.tensors[1].name == "b");
  CHECK(file.tensors[1].dtype == DType::bf16);
  CHECK(file.tensors[1].shape == Shape{});
  CHECK(file.tensors[1].as<std::uint16_t>()[0] == 0x3f80);
  CHECK(file.tensors[2].name == "a");
  CHECK(file.tensors[2].shape == Shape{1, 2});
  CHECK(file.tensors[2].as<std::uint8_t>()[1] == 0xff);
}

TEST_CASE("the bytes written are those of the format") {
  const test::Folder folder;
  const std::array<std::uint8_t, 3> codes{0x38, 0x7e, 0x80};
  const std::array<float, 1> scale{1.0f};
  write_safetensors(folder / "x",
                    std::array{tensor_of<std::uint8_t>("a", DType::f8_e4m3, {3, 1}, codes),
                               tensor_of<float>("s", DType::f32, {1}, scale)},
                    {{"k", "v"}});
  // Larger elements come first, so that both are aligned; spaces pad the header to a multiple of 8.
  std::string header = R"({"__metadata__":{"k":"v"},"s":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                       R"("a":{"dtype":"F8_E4M3","shape":[3,1],"data_offsets":[4,7]}})";
  header.resize(144, ' ');
  CHECK(test::read_text(folder / "x") == file_of(header, std::string("\0\0\x80\x3f\x38\x7e\x80", 7)));
}

TEST_CASE("round trip: every dtype, random shapes, zero sizes, odd names") {
  const test::Folder folder;
  for (std::uint64_t trial = 0; trial < 40; ++trial) {
    const Random random(7, trial);
    std::uint64_t draw = 0;
    std::vector<std::string> storage;
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < trial % 12; ++i) {
      const DType dtype = all_dtypes[random.below(draw++, all_dtypes.size())];
      Shape shape;
      for (std::uint32_t rank = random.below(draw++, 5); rank > 0; --rank)
        shape.push_back(random.below(draw++, 7));
      storage.emplace_back(static_cast<std::size_t>(element_count(shape)) * dtype_size(dtype), '\0');
      for (char& byte : storage.back()) byte = static_cast<char>(random.below(draw++, 256));
      tensors.push_back({"weight é\n\"" + std::to_string(i), dtype, shape, {}});
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].bytes = std::as_bytes(std::span(storage[i]));
    const Metadata metadata =
        trial % 2 ? Metadata{{"trial", std::to_string(trial)}, {"q\"\\", "\x01"}} : Metadata{};
    write_safetensors(folder / "x", tensors, metadata);
    const TensorFile file = read_safetensors(folder / "x");
    CHECK(file.metadata == metadata);
    REQUIRE(file.tensors.size() == tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = file.at(tensors[i].name);
      CHECK(tensor.dtype == tensors[i].dtype);
      CHECK(tensor.shape == tensors[i].shape);
      CHECK(text_of(tensor.bytes) == storage[i]);
    }
  }
}

TEST_CASE("only a misaligned tensor is copied; all are aligned where they end up") {
  const test::Folder folder;
  // The header has 8k + 1 bytes, so "f" and "h" lie at odd addresses, and "g" is not bothered by it.
  std::string header =
      R"({"f":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"h":{"dtype":"BF16","shape":[1],)"
      R"("data_offsets":[4,6]},"g":{"dtype":"U8","shape":[2],"data_offsets":[6,8]}})";
  header.resize(header.size() / 8 * 8 + 9, ' ');
  test::write_text(folder / "x", file_of(header, std::string("\0\0\x80\x3f\x80\x3f\x01\x02", 8)));
  const TensorFile file = read_safetensors(folder / "x");
  for (const Tensor& tensor : file.tensors) {
    CHECK(reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % dtype_size(tensor.dtype) == 0);
  }
  CHECK(file.at("f").as<float>()[0] == 1.0f);
  CHECK(file.at("h").as<std::uint16_t>()[0] == 0x3f80);
  CHECK(text_of(file.at("g").bytes) == "\x01\x02");
}

TEST_CASE("tensors outlive the TensorFile they came from as long as a copy of it lives") {
  const test::Folder folder;
  test::write_text(folder / "x", file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "ok"));
  std::optional<TensorFile> first = read_safetensors(folder / "x");
  const TensorFile second = *first;
  first.reset();
  CHECK(text_of(second.at("a").bytes) == "ok");
}

TEST_CASE("no tensors, with and without metadata") {
  const test::Folder folder;
  write_safetensors(folder / "x", {}, {});
  CHECK(test::read_text(folder / "x") == file_of("{}      ", ""));
  CHECK(read_safetensors(folder / "x").tensors.empty());
  write_safetensors(folder / "x", {}, {{"a", "b"}});
  CHECK(read_safetensors(folder / "x").metadata == Metadata{{"a", "b"}});
}

TEST_CASE("zero-sized tensors may lie anywhere between others") {
  const test::Folder folder;
  test::write_text(folder / "x", file_of(R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                         R"("a":{"dtype":"F32","shape":[0,4],"data_offsets":[2,2]},)"
                                         R"("c":{"dtype":"F32","shape":[4,0],"data_offsets":[0,0]}})",
                                         "xy"));
  const TensorFile file = read_safetensors(folder / "x");
  CHECK(file.tensors.size() == 3);
  CHECK(file.at("a").as<float>().empty());
  CHECK(file.at("c").shape == Shape{4, 0});
}

TEST_CASE("a file that is cut short, or none at all, is refused") {
  CHECK(refusal("") == "has 0 bytes; a safetensors file begins with an 8-byte header length");
  CHECK(refusal("1234567") == "has 7 bytes; a safetensors file begins with an 8-byte header length");
  CHECK(refusal(file_of("{}", "").substr(0, 9)) ==
        "is truncated: the header should have 2 bytes, and 1 follow its length");
  CHECK(refusal(std::string("\x01\xe1\xf5\x05\0\0\0\0", 8)) ==  // 100,000,001
        "is no safetensors file: its first 8 bytes say that the header has 100000001 bytes, and at most "
        "100000000 are "
        "allowed");
  CHECK(refusal(std::string(8, '\xff')).find("18446744073709551615 bytes") != std::string::npos);
  CHECK(refusal(std::string("\xf8\xff\xff\xff\xff\xff\xff\xff", 8)).find("at most 100000000") !=
        std::string::npos);
  CHECK(refused_header(R"({"x":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", "12345678") ==
        "tensor \"x\" ends at byte 9 of the data, and the file has 8; is it truncated?");
}

TEST_CASE("a header that is no JSON object of objects is refused") {
  CHECK(refused_header("") == "the header is not JSON: it breaks off after 0 of 0 bytes");
  CHECK(refused_header("{\"x\":").find("the header is not JSON") == 0);
  CHECK(refused_header("[]") == "the header is not a JSON object");
  CHECK(refused_header("3") == "the header is not a JSON object");
  CHECK(refused_tensor("7") == "tensor \"x\" is described by number, not by an object");
  CHECK(refused_header(std::string(1'000'000, '[')) == "the header nests deeper than 3 levels");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  CHECK(refused_header(objects) == "the header nests deeper than 3 levels");
}

TEST_CASE("two tensors of one name are refused") {
  CHECK(refused_header(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                       R"("x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                       "12") == "the header names \"x\" twice");
  CHECK(refused_tensor(R"({"dtype":"U8","dtype":"F32","shape":[8],"data_offsets":[0,8]})") ==
        "the header names \"dtype\" twice");
}

TEST_CASE("metadata other than strings is refused") {
  CHECK(refused_header(R"({"__metadata__":[]})") == "__metadata__ is not an object");
  CHECK(refused_header(R"({"__metadata__":{"a":1}})") ==
        "__metadata__ holds number for \"a\"; only strings are allowed");
  CHECK(refused_header(R"({"__metadata__":{"a":null}})") ==
        "__metadata__ holds null for \"a\"; only strings are allowed");
}

TEST_CASE("a tensor's dtype must be there and be one of ours; another is refused by name") {
  const std::string known = "is not supported; F8_E4M3, F8_E5M2, F8_E8M0, BF16, F16, F32, I32 and U8 are";
  CHECK(refused_tensor(R"({"shape":[8],"data_offsets":[0,8]})") == "tensor \"x\" has no dtype");
  CHECK(refused_tensor(R"({"dtype":3,"shape":[8],"data_offsets":[0,8]})") ==
        "tensor \"x\": dtype is not a string");
  for (const std::string name : {"F64", "I64", "BOOL", "f32", "", "F4"}) {
    CHECK(refused_tensor("{\"dtype\":\"" + name + "\",\"shape\":[1],\"data_offsets\":[0,8]}") ==
          "tensor \"x\": dtype \"" + name + "\" " + known);
  }
}

TEST_CASE("a shape that is not a short list of small integers is refused") {
  const auto shape = [](const std::string& text) {
    return refused_tensor("{\"dtype\":\"U8\",\"shape\":" + text + ",\"data_offsets\":[0,8]}");
  };
  const std::string integers = "; integers from 0 on are needed";
  const std::string large = " is too large: at most 64 extents and 2^48 elements are allowed";
  CHECK(refused_tensor(R"({"dtype":"U8","data_offsets":[0,8]})") == "tensor \"x\" has no shape");
  CHECK(shape("8") == "tensor \"x\": shape is not a list");
  CHECK(shape("[-8]") == "tensor \"x\": shape has the extent -8" + integers);
  CHECK(shape("[8.0]") == "tensor \"x\": shape has the extent 8.0" + integers);
  CHECK(shape("[\"8\"]") == "tensor \"x\": shape has the extent \"8\"" + integers);
  CHECK(shape("[[8]]").find("nests deeper") != std::string::npos);
  CHECK(shape("[null]") == "tensor \"x\": shape has the extent null" + integers);
  CHECK(shape("[99999999999999999999]").find("shape has the extent 1e+20") != std::string::npos);
  CHECK(shape("[18446744073709551615]") == "tensor \"x\": shape [18446744073709551615]" + large);
  CHECK(shape("[9223372036854775808,2]") == "tensor \"x\": shape [9223372036854775808,2]" + large);
  CHECK(shape("[4294967296,4294967296]") == "tensor \"x\": shape [4294967296,4294967296]" + large);
  CHECK(shape("[0,4294967296,4294967296]") == "tensor \"x\": shape [0,4294967296,4294967296]" + large);
  std::string ones = "[1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  CHECK(shape(ones + "]").find("is too large") != std::string::npos);
}

TEST_CASE("offsets must be two integers that span the tensor") {
  const auto offsets = [](const std::string& text) {
    return refused_tensor("{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" + text + "}");
  };
  CHECK(refused_tensor(R"({"dtype":"U8","shape":[8]})") == "tensor \"x\" has no data_offsets");
  for (const std::string text : {"8", "[8]", "[0,4,8]", "[-1,7]", "[0,8.0]", "[\"0\",\"8\"]", "null"}) {
    CHECK(offsets(text) == "tensor \"x\": data_offsets " + text + " are not two integers from 0 on");
  }
  CHECK(offsets("[8,0]") == "tensor \"x\": data_offsets [8, 0] run backwards");
  CHECK(offsets("[0,7]") == "tensor \"x\": data_offsets [0, 7] span 7 bytes, and F32 [2] has 8");
  CHECK(offsets("[0,2]") == "tensor \"x\": data_offsets [0, 2] span 2 bytes, and F32 [2] has 8");
  CHECK(offsets("[18446744073709551608,18446744073709551615]").find("span 7 bytes") != std::string::npos);
  CHECK(offsets("[18446744073709551607,18446744073709551615]") ==
        "tensor \"x\" ends at byte 18446744073709551615 of the data, and the file has 8; is it truncated?");
}

TEST_CASE("tensors must cover the data: no overlap, no hole, no tail") {
  const auto two = [](const std::string& first, const std::string& second, std::string_view data) {
    return refused_header("{\"x\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + first +
                              "},\"y\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + second + "}}",
                          data);
  };
  CHECK(two("[0,4]", "[3,7]", "1234567") ==
        "tensor \"y\" begins at byte 3 and overlaps the tensor before it, which ends at 4");
  CHECK(two("[0,4]", "[0,4]", "1234") ==
        "tensor \"y\" begins at byte 0 and overlaps the tensor before it, which ends at 4");
  CHECK(two("[0,4]", "[5,9]", "123456789") == "tensor \"y\" begins at byte 5 and leaves a hole after byte 4");
  CHECK(two("[6,10]", "[1,5]", "123456789a") ==
        "tensor \"y\" begins at byte 1 and leaves a hole after byte 0");
  CHECK(two("[0,4]", "[4,8]", "123456789") == "has 1 bytes after the last tensor, where none may be");
  CHECK(refused_header("{}", "1") == "has 1 bytes after the last tensor, where none may be");
}

TEST_CASE("a hostile name is quoted in the sentence") {
  CHECK(refused_header(R"({"a\n\u001b[2J":{}})") == R"(tensor "a\n\u001b[2J" has no dtype)");
}

TEST_CASE("writing refuses names that a reader could not tell apart or find") {
  const test::Folder folder;
  const auto refusal_of = [&](const std::vector<Tensor>& tensors) {
    return test::error_of([&] { write_safetensors(folder / "x", tensors, {}); });
  };
  const Tensor a{"a", DType::u8, {0}, {}}, metadata{"__metadata__", DType::u8, {0}, {}},
      broken{"\xff", DType::u8, {0}, {}};
  CHECK(refusal_of({a, a}) == (folder / "x") + ": a tensor cannot be called \"a\": the name is taken");
  CHECK(refusal_of({metadata}) ==
        (folder / "x") + ": a tensor cannot be called \"__metadata__\": the name is taken");
  CHECK(refusal_of({broken}).find("is not UTF-8") != std::string::npos);
  CHECK(folder.names().empty());
}

TEST_CASE("damaged files are either refused with a sentence or read as what they say") {
  const test::Folder folder;
  const std::string path = folder / "x.safetensors";
  const std::string whole =
      file_of(R"({"__metadata__":{"k":"v"},"f":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
              R"("h":{"dtype":"BF16","shape":[0],"data_offsets":[8,8]},)"
              R"("c":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[8,11]}})",
              "0123456789a");
  const std::vector<std::string_view> pieces{"{",
                                             "}",
                                             "[",
                                             "]",
                                             ",",
                                             ":",
                                             "\"",
                                             "0",
                                             "-1",
                                             "8",
                                             "1e3",
                                             "null",
                                             "true",
                                             "18446744073709551615",
                                             "4294967296",
                                             "F32",
                                             "U8",
                                             "dtype",
                                             "shape",
                                             "data_offsets",
                                             "__metadata__",
                                             " ",
                                             "\\u0000",
                                             "\xff",
                                             "\"f\"",
                                             "\"c\":{}"};
  int refused = 0, read = 0;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    std::string bytes = test::mutate(whole, whole.size(), pieces, i);
    if (i % 4 && bytes.size() > 8) {  // let most of them past the length, or they would only break that
      const std::size_t header = bytes.rfind('}') == std::string::npos ? 0 : bytes.rfind('}') + 1;
      if (header > 8)
        bytes =
            file_of(std::string_view(bytes).substr(8, header - 8), std::string_view(bytes).substr(header));
    }
    test::write_text(path, bytes);
    try {
      const TensorFile file = read_safetensors(path);
      ++read;
      for (const Tensor& tensor : file.tensors) {
        REQUIRE(tensor.bytes.size() ==
                static_cast<std::size_t>(tensor.elements()) * dtype_size(tensor.dtype));
      }
      write_safetensors(folder / "copy", file.tensors, file.metadata);
      const TensorFile copy = read_safetensors(folder / "copy");
      REQUIRE(copy.metadata == file.metadata);
      for (const Tensor& tensor : file.tensors)
        REQUIRE(text_of(copy.at(tensor.name).bytes) == text_of(tensor.bytes));
    } catch (const Error& error) {
      ++refused;
      REQUIRE(std::string_view(error.what()).starts_with(path + ": "));
    }
  }
  CHECK(refused > 2500);  // both kinds were really tried
  CHECK(read > 100);
}
