#include "emulator/files/tensor.hpp"

#include <array>

#include "tests/catch.hpp"
#include "tests/files/hostile.hpp"
#include "tests/folder.hpp"

using namespace fp8twin;

TEST_CASE("every dtype has its safetensors name and size") {
  struct Row {
    DType dtype;
    std::string_view name;
    std::size_t size;
  };
  for (const Row& row :
       {Row{DType::f8_e4m3, "F8_E4M3", 1}, Row{DType::f8_e5m2, "F8_E5M2", 1},
        Row{DType::f8_e8m0, "F8_E8M0", 1}, Row{DType::bf16, "BF16", 2}, Row{DType::f16, "F16", 2},
        Row{DType::f32, "F32", 4}, Row{DType::i32, "I32", 4}, Row{DType::u8, "U8", 1}}) {
    CHECK(dtype_name(row.dtype) == row.name);
    CHECK(dtype_size(row.dtype) == row.size);
    CHECK(dtype_from_name(row.name) == row.dtype);
  }
  CHECK_FALSE(dtype_from_name("F64"));
  CHECK_FALSE(dtype_from_name("f32"));
  CHECK_FALSE(dtype_from_name(""));
}

TEST_CASE("shapes: text and number of elements") {
  CHECK(shape_text({64, 128}) == "[64, 128]");
  CHECK(shape_text({}) == "[]");
  CHECK(element_count({}) == 1);
  CHECK(element_count({2, 3, 4}) == 24);
  CHECK(element_count({5, 0}) == 0);
}

TEST_CASE("checked_element_count refuses what would overflow, zero extents or not") {
  constexpr std::int64_t big = std::int64_t{1} << 40;
  CHECK(checked_element_count({}) == 1);
  CHECK(checked_element_count({2, 3}) == 6);
  CHECK(checked_element_count({0, big}) == 0);
  CHECK(checked_element_count({max_elements}) == max_elements);
  CHECK(checked_element_count({max_elements / 2, 2}) == max_elements);
  CHECK_FALSE(checked_element_count({max_elements + 1}));
  CHECK_FALSE(checked_element_count({big, big}));
  CHECK_FALSE(checked_element_count({big, big, 0}));
  CHECK_FALSE(checked_element_count({0, big, big}));
  CHECK_FALSE(checked_element_count({-1}));
  CHECK_FALSE(checked_element_count({-1, -1}));
  CHECK_FALSE(checked_element_count({INT64_MAX, INT64_MAX}));
  CHECK(checked_element_count(Shape(64, 1)) == 1);
  CHECK_FALSE(checked_element_count(Shape(65, 1)));
}

TEST_CASE("TensorFile finds a tensor by name, and an absent one is an error that lists what is there") {
  TensorFile file;
  file.path = "weights.safetensors";
  CHECK(test::error_of([&] { file.at("x"); }) == "weights.safetensors: holds no tensor \"x\"; it holds none");
  file.tensors = {{"a", DType::u8, {0}, {}}, {"b\n", DType::u8, {0}, {}}};
  CHECK(file.find("a") == &file.tensors[0]);
  CHECK(&file.at("b\n") == &file.tensors[1]);
  CHECK(file.find("c") == nullptr);
  CHECK(test::error_of([&] { file.at("c"); }) ==
        R"(weights.safetensors: holds no tensor "c"; it holds "a", "b\n")");
  for (int i = 0; i < 10; ++i) file.tensors.push_back({std::to_string(i), DType::u8, {0}, {}});
  CHECK(
      test::error_of([&] { file.at("c"); }) ==
      R"(weights.safetensors: holds no tensor "c"; it holds "a", "b\n", "0", "1", "2", "3", "4", "5" and 4 more)");
}

TEST_CASE("the suffix chooses the format") {
  const test::Folder folder;
  const std::array<float, 2> values{1.5f, -2.0f};
  const Tensor tensor = tensor_of<float>("x", DType::f32, {2}, values);
  write_tensor_file(folder / "x.npy", std::span(&tensor, 1), {});
  write_tensor_file(folder / "x.safetensors", std::span(&tensor, 1), {});
  CHECK(test::read_text(folder / "x.npy").substr(0, 6) == "\x93NUMPY");
  CHECK(read_tensor_file(folder / "x.npy").at("data").as<float>()[1] == -2.0f);
  CHECK(test::read_text(folder / "x.safetensors").substr(8, 6) == "{\"x\":{");
  CHECK(read_tensor_file(folder / "x.safetensors").at("x").as<float>()[1] == -2.0f);
}

TEST_CASE("writing refuses a tensor whose bytes are not what its shape says, and npy a second tensor") {
  const test::Folder folder;
  const std::array<float, 2> values{};
  const auto refusal = [&](const std::string& name, const std::vector<Tensor>& tensors) {
    return test::error_of([&] { write_tensor_file(folder / name, tensors, {}); });
  };
  CHECK(refusal("x.safetensors", {tensor_of<float>("x", DType::f32, {3}, values)}) ==
        (folder / "x.safetensors") + ": tensor \"x\", F32 [3], cannot be written from 8 bytes");
  const Tensor tensor = tensor_of<float>("x", DType::f32, {2}, values);
  CHECK(refusal("x.npy", {tensor, tensor}) ==
        (folder / "x.npy") +
            ": a .npy file holds exactly one tensor, not 2; name the file .safetensors instead");
  CHECK(refusal("x.npy", {}) ==
        (folder / "x.npy") +
            ": a .npy file holds exactly one tensor, not 0; name the file .safetensors instead");
  CHECK(folder.names().empty());
}

TEST_CASE("a file may be written over while it is read from") {
  const test::Folder folder;
  const std::array<float, 2> values{1.0f, 2.0f};
  const Tensor tensor = tensor_of<float>("x", DType::f32, {2}, values);
  write_tensor_file(folder / "x.safetensors", std::span(&tensor, 1), {});
  const TensorFile file = read_tensor_file(folder / "x.safetensors");
  write_tensor_file(folder / "x.safetensors", file.tensors, {{"copy", "of itself"}});
  CHECK(read_tensor_file(folder / "x.safetensors").at("x").as<float>()[1] == 2.0f);
  CHECK(file.at("x").as<float>()[1] == 2.0f);
}

TEST_CASE("the header of a file is what its writer puts before the bytes, and needs none of them") {
  const test::Folder folder;
  const std::vector<float> values{1, 2, 3};
  const Tensor whole = tensor_of<float>("d", DType::f32, {3, 1}, values), bare{"d", DType::f32, {3, 1}, {}};
  const Metadata metadata{{"seed", "1"}};
  for (const std::string name : {"d.safetensors", "d.npy"}) {
    const std::string path = folder / name;
    write_tensor_file(path, {&whole, 1}, name == "d.npy" ? Metadata{} : metadata);
    const std::string bytes(reinterpret_cast<const char*>(values.data()), 12);
    CHECK(test::read_text(path) == tensor_file_header(path, bare, metadata) + bytes);
  }
}
