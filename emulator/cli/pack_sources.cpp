#include "emulator/cli/pack_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "emulator/cli/scaled_tensor.hpp"
#include "emulator/files/quote.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

constexpr std::array<std::string_view, 9> keys{"a",         "b",          "a_scale",  "b_scale", "c",
                                               "m_indices", "group_ends", "masked_m", "k_sizes"};

bool is_scale(std::string_view key) { return key == "a_scale" || key == "b_scale"; }

const Source* find_key(const std::vector<Source>& sources, std::string_view key) {
  const auto found =
      std::find_if(sources.begin(), sources.end(), [&](const Source& s) { return s.key == key; });
  return found == sources.end() ? nullptr : &*found;
}

void check_keys(const std::vector<Source>& sources) {
  for (const Source& source : sources) {
    if (find_key(sources, source.key) != &source)
      throw Error(fmt::format("pack: {}= is given twice; once is needed", source.key));
  }
  for (const std::string_view key : {"a", "b"}) {
    if (!find_key(sources, key))
      throw Error(fmt::format("pack: {0}= is missing; {0}=FILE:NAME is needed", key));
  }
}

// Scales for blocks along K have the rank of their codes; a lone scale, or one a row, has less.
void check_granularity(const PackedTensor& codes, const PackedTensor& scales) {
  if (scales.tensor.shape.size() == codes.tensor.shape.size()) return;
  throw Error(fmt::format(
      "{}: tensor {} has shape {}, which is not a scale for each block of {}, {}; scales for blocks of "
      "1x128 or 128x128 are needed",
      scales.source.file, quote(scales.source.name), shape_text(scales.tensor.shape),
      quote(codes.source.name), shape_text(codes.tensor.shape)));
}

}  // namespace

Source parse_source(const std::string& text) {
  const std::size_t equals = text.find('='), colon = text.rfind(':');
  const bool whole = equals != std::string::npos && colon != std::string::npos && colon > equals + 1 &&
                     colon + 1 < text.size();
  if (!whole)
    throw Error(
        fmt::format("pack: {} is not KEY=FILE:NAME, as in b=model.safetensors:layer.weight", quote(text)));
  const Source source{text.substr(0, equals), text.substr(equals + 1, colon - equals - 1),
                      text.substr(colon + 1)};
  if (std::find(keys.begin(), keys.end(), source.key) == keys.end()) {
    throw Error(
        fmt::format("pack: a problem has no tensor {}; it has {}", quote(source.key), fmt::join(keys, ", ")));
  }
  return source;
}

Checkpoint& Packer::open(const std::string& file) { return files_.try_emplace(file, file).first->second; }

PackedTensor Packer::as_stored(const Source& source) {
  Tensor tensor = open(source.file).at(source.name);
  tensor.name = source.key;
  const DType dtype = tensor.dtype;
  return {std::move(tensor), source, dtype};
}

PackedTensor Packer::codes(const Source& source) {
  PackedTensor packed = as_stored(source);
  if (packed.stored_as != DType::f8_e4m3 && packed.stored_as != DType::u8) {
    throw Error(fmt::format("{}: tensor {} has dtype {}; F8_E4M3 is needed (fp8twin quantize makes it)",
                            source.file, quote(source.name), dtype_name(packed.stored_as)));
  }
  packed.tensor.dtype = DType::f8_e4m3;
  return packed;
}

PackedTensor Packer::scales(const Source& source) {
  PackedTensor packed = as_stored(source);
  if (packed.stored_as == DType::f32) return packed;  // from the file, without a copy
  widened_.push_back(scale_values(source.file, open(source.file).at(source.name)));
  packed.tensor = tensor_of<float>(source.key, DType::f32, packed.tensor.shape, widened_.back());
  return packed;
}

Source Packer::find_scales(const Source& codes) {
  for (const std::string_view suffix : {"_scale_inv", "_scale"}) {
    const std::string name = codes.name + std::string(suffix);
    if (open(codes.file).find(name)) return {codes.key + "_scale", codes.file, name};
  }
  return {};
}

std::vector<PackedTensor> Packer::gather(const std::vector<Source>& sources) {
  check_keys(sources);
  std::vector<PackedTensor> tensors;
  std::vector<const Source*> without_scale;
  for (const std::string key : {"a", "b"}) {
    const Source& source = *find_key(sources, key);
    const Source* given = find_key(sources, key + "_scale");
    const Source scale = given ? *given : find_scales(source);
    tensors.push_back(codes(source));
    if (scale.name.empty()) {
      without_scale.push_back(&source);
    } else {
      PackedTensor packed = scales(scale);
      check_granularity(tensors.back(), packed);
      tensors.push_back(std::move(packed));
    }
  }
  if (without_scale.size() == 1) {  // with neither it may be a wgmma
    const Source& source = *without_scale.front();
    throw Error(
        fmt::format("{0}: has no scales for {1}: neither {2}_scale_inv nor {2}_scale is there; "
                    "{3}_scale=FILE:NAME is needed",
                    source.file, quote(source.name), source.name, source.key));
  }
  for (const Source& source : sources) {
    if (source.key != "a" && source.key != "b" && !is_scale(source.key)) tensors.push_back(as_stored(source));
  }
  return tensors;
}

}  // namespace fp8twin::cli
