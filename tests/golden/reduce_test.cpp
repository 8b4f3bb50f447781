// What an H200 made of additions to global memory, replayed: by reduce_add, and by the machine's cp.reduce.async.bulk.tensor.
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/machine/launch.hpp"
#include "emulator/number/reduce_add.hpp"
#include "emulator/ptx/vocabulary.hpp"
#include "gpu/capture/device/reduce_oracle.hpp"
#include "gpu/capture/device/reduce_pairs.hpp"
#include "tests/catch.hpp"
#include "tests/golden/golden.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

constexpr const char* tma = "cp.reduce.async.bulk.tensor.add";
constexpr u32 specials = capture::reduce_special_count;

u32 sum(u32 memory, u32 value) { return f32_bits(reduce_add(f32_from_bits(memory), f32_from_bits(value))); }

/// As red.global.add.f32 has it: subnormals, before and after, are zeros of their sign.
u32 flushed_sum(u32 memory, u32 value) {
  return capture::flushed(sum(capture::flushed(memory), capture::flushed(value)));
}

/// Word i * specials + j: special value i after special value j was added to it.
std::vector<u32> recorded_table(const nlohmann::json& recorded, const std::string& way) {
  const nlohmann::json& table = recorded.at("special").at("tables").at(way);
  if (table.is_string()) return recorded_table(recorded, table.get<std::string>().substr(3));
  std::vector<u32> words;
  for (const nlohmann::json& line : table) {
    std::istringstream stream(line.get<std::string>());
    for (std::string word; stream >> word;) words.push_back(static_cast<u32>(std::stoul(word, nullptr, 16)));
  }
  REQUIRE(words.size() == specials * specials);
  return words;
}

template <class Sum>
std::vector<u32> table_of(const Sum& each) {
  std::vector<u32> words;
  for (const u32 memory : capture::reduce_specials)
    for (const u32 value : capture::reduce_specials) words.push_back(each(memory, value));
  return words;
}

template <class Sum>
std::uint64_t checksum_of(std::uint64_t seed, std::uint64_t pairs, const Sum& each) {
  std::uint64_t checksum = 0;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const capture::ReducePair pair = capture::drawn_pair(seed, i);
    checksum += capture::reduce_term(i, each(pair.memory, pair.value));
  }
  return checksum;
}

}  // namespace

TEST_CASE("where the recording comes from, and over how many pairs it looked") {
  const nlohmann::json recorded = golden_json("reduce.json");
  for (const char* key :
       {"program", "command", "device", "driver", "cuda", "nvrtc", "date", "seed", "kernels"}) {
    INFO(key);
    CHECK_FALSE(recorded.at(key).get<std::string>().empty());
  }
  CHECK(recorded.at("device").get<std::string>().find("H200") != std::string::npos);
  const nlohmann::json& counts = recorded.at("drawn").at("counts");
  CHECK(counts.at("pairs").get<std::uint64_t>() >= 1'000'000'000u);
  CHECK(counts.at("nan_pairs").get<std::uint64_t>() >= 1'000'000u);
  const auto fits_only = [&](const char* way, const std::string& rule) {
    const nlohmann::json& one = counts.at("ways").at(way);
    CHECK(one.at("nan_differing") == 0);
    for (const auto& [name, differing] : one.at("differing").items()) {
      INFO(way << ": " << name);
      CHECK((differing == 0) == (name == rule));
    }
  };
  fits_only(tma, "nothing flushed");
  fits_only("add.rn.f32", "nothing flushed");
  for (const char* way : {"add.rn.ftz.f32", "red.global.add.f32", "atom.global.add.f32"})
    fits_only(way, "operands, result flushed");
  CHECK(recorded.at("over_the_edge").at("outside_changed") == 0);
  CHECK(recorded.at("over_the_edge").at("inside_no_sum") == 0);
  CHECK(recorded.at("box_before_the_tensor").get<std::string>().find("illegal instruction") !=
        std::string::npos);
}

TEST_CASE("all pairs of special values: 0 differing bits") {
  const nlohmann::json recorded = golden_json("reduce.json");
  const nlohmann::json& values = recorded.at("special").at("values");
  REQUIRE(values.size() == specials);
  for (std::size_t i = 0; i < specials; ++i)
    CHECK(std::stoul(values[i].get<std::string>(), nullptr, 16) == capture::reduce_specials[i]);
  CHECK(recorded_table(recorded, tma) == table_of(sum));
  CHECK(recorded_table(recorded, "add.rn.f32") ==
        table_of([](u32 a, u32 b) { return f32_bits(add_rn(f32_from_bits(a), f32_from_bits(b))); }));
  CHECK(recorded_table(recorded, "red.global.add.f32") == table_of(flushed_sum));
  CHECK(recorded_table(recorded, "atom.global.add.f32") == table_of(flushed_sum));
}

TEST_CASE("drawn pairs, by checksum") {
  const nlohmann::json recorded = golden_json("reduce.json");
  const nlohmann::json& drawn = recorded.at("drawn");
  const std::uint64_t seed = std::stoull(recorded.at("seed").get<std::string>()),
                      pairs = drawn.at("pairs_of_checksum").get<std::uint64_t>();
  REQUIRE(pairs >= 1'000'000);
  const auto recorded_checksum = [&](const char* way) {
    return std::stoull(drawn.at("checksums").at(way).get<std::string>(), nullptr, 16);
  };
  CHECK(checksum_of(seed, pairs, sum) == recorded_checksum(tma));
  CHECK(checksum_of(seed, pairs, flushed_sum) == recorded_checksum("red.global.add.f32"));
  CHECK(checksum_of(seed, pairs, [](u32 a, u32 b) { return capture::oracle_sum(a, b, 0); }) ==
        recorded_checksum(tma));
}

TEST_CASE("the machine's instruction over all pairs of special values") {
  const std::vector<u32> recorded = recorded_table(golden_json("reduce.json"), tma);
  constexpr u32 columns = 32, rows = specials * specials / columns, box_rows = 64;
  std::vector<u32> memory(specials * specials + 4);  // the tensor begins on 16 bytes, wherever that is
  u32* const tensor = memory.data() + (16 - reinterpret_cast<std::uintptr_t>(memory.data()) % 16) / 4;
  for (const SwizzleMode mode : {SwizzleMode::none, SwizzleMode::b128}) {
    for (u32 i = 0; i < specials * specials; ++i) tensor[i] = capture::reduce_specials[i / specials];
    TensorMapDescription box;
    box.base = reinterpret_cast<u64>(tensor);
    box.element = TensorElement::f32;
    box.size[0] = box.box[0] = columns;
    box.size[1] = rows;
    box.stride[0] = 4 * columns;
    box.box[1] = box_rows;
    box.swizzle = mode;
    const TensorMap map = machine::encode_tensor_map(box);
    machine::GlobalMemory global;
    global.add("tensor", tensor, specials * specials * 4, machine::GlobalMemory::Access::read_write);
    machine::launch_threads({rows / box_rows, 1}, {1, 1}, 32, 4 * columns * box_rows,
                            [&] {
                              const u32 tile = dynamic_shared(), first = ctaid_x() * columns * box_rows;
                              for (u32 i = tid_x(); i < columns * box_rows; i += 32)
                                st_shared_u32(box_element_address(box, tile, i % columns, i / columns),
                                              capture::reduce_specials[(first + i) % specials]);
                              fence_proxy_async_shared_cta();
                              bar_sync(0, 32);
                              if (tid_x() != 0) return;
                              cp_reduce_async_bulk_tensor_2d_add_global_shared(
                                  map, 0, static_cast<i32>(ctaid_x() * box_rows), tile);
                              cp_async_bulk_commit_group();
                              cp_async_bulk_wait_group<0>();
                            },
                            {.memory = &global});
    CHECK(std::vector<u32>(tensor, tensor + specials * specials) == recorded);
  }
}
