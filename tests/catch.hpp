// The one include that works with Catch2 2.13 (Debian 12) and Catch2 3 (Debian 13, Ubuntu 24.04).
#pragma once

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
inline auto contains_text(const std::string& text) { return Catch::Matchers::ContainsSubstring(text); }
#else
#include <catch2/catch.hpp>
inline auto contains_text(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif
