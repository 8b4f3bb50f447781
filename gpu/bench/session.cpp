#include "gpu/bench/session.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <optional>

#include "emulator/support/error.hpp"
#include "gpu/bench/candidates.hpp"
#include "gpu/jit/kernels.hpp"

namespace fp8twin::bench {

Session::Session(const BenchOptions& options_)
    : options(options_),
      timer(options_.latency ? KernelTimerOptions{true, ""} : options_.timer),
      problems(options_.seed) {
  timer.begin(device, kernels);
}

Contest& Session::contest() {
  if (!contest_) contest_.emplace(timer, static_cast<std::size_t>(options.flush_gb * 1e9));
  return *contest_;
}

GemmConfig Session::config_of(const Shape& shape) const {
  return options.config.empty() ? chosen_config(shape, multiprocessors()) : config_from_name(options.config);
}

void Session::prepare(const std::vector<Shape>& shapes) {
  std::map<std::string, jit::Source> by_name;  // each once
  for (const Shape& shape : shapes) {
    const GemmConfig config = config_of(shape);
    by_name.try_emplace(config.name(), jit::gemm_source(config));
  }
  std::vector<jit::Source> sources;
  sources.reserve(by_name.size());
  for (const auto& [name, source] : by_name) sources.push_back(source);
  kernels.prepare(sources, options.threads);
}

const StreamResult& Session::large_stream() {
  if (!large_) {
    const auto bytes = static_cast<std::size_t>(options.stream_gb * 1e9) / 4096 * 4096;
    large_ = read_stream(contest(), kernels, device, bytes, options.rounds);
  }
  return *large_;
}

const StreamResult& Session::cold_stream() {
  if (!cold_) cold_ = read_stream(contest(), kernels, device, cold_stream_bytes, options.rounds);
  return *cold_;
}

const ContestResult& Session::plain_gemm() {
  if (!plain_) {
    const PlainGemm gemm(cublaslt, problems.problem({plain_extent, plain_extent, plain_extent}));
    const Contender contender{"plain", [&] { gemm.launch(); }};
    plain_ = contest().run(std::span(&contender, 1), options.rounds).front();
    if (!plain_->refusal.empty()) throw Error("cuBLASLt's unscaled FP8 GEMM: " + plain_->refusal);
  }
  return *plain_;
}

Floors Session::floors() {
  const Shape plain{plain_extent, plain_extent, plain_extent};
  return {large_stream().bytes_per_second(), cold_stream().bytes_per_second(),
          plain.operations() / (1e-6 * plain_gemm().us.median)};
}

Provenance Session::provenance() const {
  return {
      fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))),
      device.name(),
      device.driver_version(),
      device.cuda_version(),
      cublaslt.description(),
      timer.method(),
      fmt::format("Medians of {} rounds in turn, {:.0f} GB written before every run, normal data, seed {}.",
                  options.rounds, options.flush_gb, options.seed),
      options.command};
}

const Row& contest_of(Session& session, const Shape& shape) {
  const HostProblem host = session.problems.problem(shape);
  const CardProblem problem(host);
  const GemmConfig config = session.config_of(shape);
  OurGemm ours(session.kernels, problem, config, session.multiprocessors());
  TheirGemm first(session.cublaslt, problem);
  std::optional<TheirGemm> ascending;
  if (first.splits_k()) ascending.emplace(session.cublaslt, problem, CublasLtGemm::Order::ascending);
  ours.poison();
  first.poison();
  if (ascending) ascending->poison();
  std::vector<Contender> contenders = {{"ours", [&] { ours.launch(); }},
                                       {"cuBLASLt", [&] { first.launch(); }}};
  if (ascending) contenders.push_back({"cuBLASLt, K ascending", [&] { ascending->launch(); }});
  const std::vector<ContestResult> results = session.contest().run(contenders, session.options.rounds);
  for (const ContestResult& result : results) {
    if (!result.refusal.empty())
      throw Error(fmt::format("{}, {}: {}", shape.name(), result.name, result.refusal));
  }
  session.cublaslt_kernels = fmt::format("{}", fmt::join(results[1].kernels, " + "));
  Row row{shape, config.name(), results[0].us, results[1].us, first.padded_m(), {}, {}};
  if (ascending) {
    row.ascending = results[2].us;
    session.cublaslt_kernels += fmt::format("; K ascending: {}", fmt::join(results[2].kernels, " + "));
  }
  if (session.options.check) {
    const std::vector<std::uint16_t> model = model_d(host), our_d = ours.d(),
                                     their_d = ascending ? ascending->d() : first.d();
    row.differences = {differing(our_d, model), differing(their_d, model), differing(our_d, their_d),
                       ascending ? differing(first.d(), model) : 0};
  }
  session.rows.push_back(std::move(row));
  return session.rows.back();
}

}  // namespace fp8twin::bench
