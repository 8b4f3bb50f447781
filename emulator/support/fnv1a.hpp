// FNV-1a with 64 bits: tells texts and operands apart where nobody forges them. Not for security.
//
//     hash = 14695981039346656037;  for each byte:  hash = (hash ^ byte) * 1099511628211   modulo 2^64
//
// Source: Fowler, Noll, Vo; the Internet draft draft-eastlake-fnv.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fp8twin {

class Fnv1a {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes)
      value_ = (value_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add(std::int64_t word) { add(std::as_bytes(std::span(&word, 1))); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace fp8twin
