#include "emulator/files/shard_index.hpp"

#include <array>

#include "tests/catch.hpp"
#include "tests/files/hostile.hpp"
#include "tests/folder.hpp"

using namespace fp8twin;

namespace {

void write_one(const std::string& path, const std::string& name, std::uint8_t value) {
  const std::array<std::uint8_t, 1> bytes{value};
  const Tensor tensor = tensor_of<std::uint8_t>(name, DType::u8, {1}, bytes);
  write_tensor_file(path, std::span(&tensor, 1), {});
}

std::uint8_t value_of(const Tensor& tensor) { return tensor.as<std::uint8_t>()[0]; }

/// What an index of this text is refused with, less the file's name.
std::string refusal(const std::string& text) {
  const test::Folder folder;
  const std::string path = folder / "m.safetensors.index.json";
  test::write_text(path, text);
  const std::string error = test::error_of([&] { Checkpoint checkpoint(path); });
  REQUIRE(error.starts_with(path + ": "));
  return error.substr(path.size() + 2);
}

}  // namespace

TEST_CASE("a sharded checkpoint finds each tensor in its shard, and opens a shard only when asked") {
  const test::Folder folder;
  std::filesystem::create_directory(folder / "below");
  write_one(folder / "1.safetensors", "a", 11);
  write_one(folder / "below/2.safetensors", "b", 22);
  test::write_text(folder / "m.safetensors.index.json",
                   R"({"metadata":{"total_size":3,"more":{"x":[1]}},"weight_map":{"a":"1.safetensors",)"
                   R"("b":"below/2.safetensors","c":"absent.safetensors","wrong":"1.safetensors"}})");
  Checkpoint checkpoint(folder / "m.safetensors.index.json");
  const Tensor& a = checkpoint.at("a");
  CHECK(value_of(checkpoint.at("b")) == 22);
  CHECK(value_of(a) == 11);  // still valid
  CHECK(&checkpoint.at("a") == &a);
  CHECK(checkpoint.find("d") == nullptr);
  CHECK(test::error_of([&] { checkpoint.at("d"); }) ==
        (folder / "m.safetensors.index.json") + R"(: holds no tensor "d"; it holds "a", "b", "c", "wrong")");
  CHECK(test::error_of([&] { checkpoint.find("c"); }) ==
        (folder / "absent.safetensors") + ": cannot be read: No such file or directory");
  CHECK(test::error_of([&] { checkpoint.find("wrong"); }) ==
        (folder / "1.safetensors") + R"(: holds no tensor "wrong"; it holds "a")");
}

TEST_CASE("an index in the working folder finds its shards there") {
  const test::Folder folder;
  write_one(folder / "1.safetensors", "a", 11);
  test::write_text(folder / "m.json", R"({"weight_map":{"a":"1.safetensors"}})");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  CHECK(value_of(Checkpoint("m.json").at("a")) == 11);
  std::filesystem::current_path(before);
}

TEST_CASE("a single file is a checkpoint too") {
  const test::Folder folder;
  write_one(folder / "x.safetensors", "a", 7);
  write_one(folder / "x.npy", "a", 8);
  CHECK(value_of(Checkpoint(folder / "x.safetensors").at("a")) == 7);
  CHECK(value_of(Checkpoint(folder / "x.npy").at("data")) == 8);
  Checkpoint checkpoint(folder / "x.safetensors");
  CHECK(checkpoint.find("b") == nullptr);
  CHECK(test::error_of([&] { checkpoint.at("b"); }) ==
        (folder / "x.safetensors") + R"(: holds no tensor "b"; it holds "a")");
}

TEST_CASE("an index that leads out of its folder is refused") {
  for (const std::string shard : {"/etc/passwd.safetensors", "../x.safetensors", "a/../../x.safetensors",
                                  "..", "", "x.bin", "/dev/zero", "a\\u0000.safetensors"}) {
    const std::string error = refusal(R"({"weight_map":{"w":")" + shard + "\"}}");
    CHECK(error.find("tensor \"w\" is said to be in \"" + shard +
                     "\"; a .safetensors file at or below the index's own "
                     "folder is needed") == 0);
  }
}

TEST_CASE("what is no index is refused") {
  CHECK(refusal("").find("the index is not JSON") == 0);
  CHECK(refusal("[]") == "is no checkpoint index: an object \"weight_map\" is needed");
  CHECK(refusal("{}") == "is no checkpoint index: an object \"weight_map\" is needed");
  CHECK(refusal(R"({"weight_map":[]})") == "is no checkpoint index: an object \"weight_map\" is needed");
  CHECK(refusal(R"({"weight_map":{"a":1}})") == "the shard of tensor \"a\" is not a string");
  CHECK(refusal(R"({"weight_map":{"a":"1.safetensors","a":"2.safetensors"}})") ==
        "the index names \"a\" twice");
  CHECK(refusal(std::string(100'000, '[')) == "the index nests deeper than 16 levels");
  CHECK(test::error_of([] { Checkpoint checkpoint("/no/index.json"); }) ==
        "/no/index.json: cannot be read: No such file or directory");
}
