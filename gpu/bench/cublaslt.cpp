#include "gpu/bench/cublaslt.hpp"

#include <cublasLt.h>
#include <fmt/format.h>

#include <vector>

#include "emulator/support/error.hpp"
#include "gpu/launch/library.hpp"

namespace fp8twin::bench {
namespace {

// Of cublasLt.h from CUDA 12.9 on; by number, so that older headers serve as well.
constexpr auto a_scale_mode = static_cast<cublasLtMatmulDescAttributes_t>(31);
constexpr auto b_scale_mode = static_cast<cublasLtMatmulDescAttributes_t>(32);
constexpr i32 vec128_32f = 4, blk128x128_32f = 5;

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

}  // namespace

struct CublasLtLibrary {
  std::string name;
  cublasLtHandle_t handle = nullptr;
  decltype(::cublasLtCreate)* create = nullptr;
  decltype(::cublasLtDestroy)* destroy = nullptr;
  decltype(::cublasLtGetVersion)* version = nullptr;
  decltype(::cublasLtGetStatusString)* status_string = nullptr;
  decltype(::cublasLtMatmulDescCreate)* operation_create = nullptr;
  decltype(::cublasLtMatmulDescDestroy)* operation_destroy = nullptr;
  decltype(::cublasLtMatmulDescSetAttribute)* operation_set = nullptr;
  decltype(::cublasLtMatrixLayoutCreate)* layout_create = nullptr;
  decltype(::cublasLtMatrixLayoutDestroy)* layout_destroy = nullptr;
  decltype(::cublasLtMatmulPreferenceCreate)* preference_create = nullptr;
  decltype(::cublasLtMatmulPreferenceDestroy)* preference_destroy = nullptr;
  decltype(::cublasLtMatmulPreferenceSetAttribute)* preference_set = nullptr;
  decltype(::cublasLtMatmulAlgoGetHeuristic)* heuristic = nullptr;
  decltype(::cublasLtMatmulAlgoConfigGetAttribute)* algorithm_get = nullptr;
  decltype(::cublasLtMatmul)* matmul = nullptr;

  CublasLtLibrary() {
    const Library library(
        cuda_library_candidates({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}), "cuBLASLt",
        "install the CUDA toolkit, or name the library's folder in FP8TWIN_LIBRARY_PATH");
    name = library.name();
    library.load(create, "cublasLtCreate");
    library.load(destroy, "cublasLtDestroy");
    library.load(version, "cublasLtGetVersion");
    library.load(status_string, "cublasLtGetStatusString");
    library.load(operation_create, "cublasLtMatmulDescCreate");
    library.load(operation_destroy, "cublasLtMatmulDescDestroy");
    library.load(operation_set, "cublasLtMatmulDescSetAttribute");
    library.load(layout_create, "cublasLtMatrixLayoutCreate");
    library.load(layout_destroy, "cublasLtMatrixLayoutDestroy");
    library.load(preference_create, "cublasLtMatmulPreferenceCreate");
    library.load(preference_destroy, "cublasLtMatmulPreferenceDestroy");
    library.load(preference_set, "cublasLtMatmulPreferenceSetAttribute");
    library.load(heuristic, "cublasLtMatmulAlgoGetHeuristic");
    library.load(algorithm_get, "cublasLtMatmulAlgoConfigGetAttribute");
    library.load(matmul, "cublasLtMatmul");
    check(create(&handle), "cublasLtCreate");
  }
  ~CublasLtLibrary() {
    if (handle) destroy(handle);
  }
  CublasLtLibrary(const CublasLtLibrary&) = delete;
  CublasLtLibrary& operator=(const CublasLtLibrary&) = delete;

  std::string words(cublasStatus_t status) const {
    return fmt::format("{} (cublasStatus_t {})", status_string(status), static_cast<int>(status));
  }
  void check(cublasStatus_t status, const std::string& call) const {
    if (status != CUBLAS_STATUS_SUCCESS) throw Error(fmt::format("{} failed: {}", call, words(status)));
  }
};

struct CublasLtPlan {
  const CublasLtLibrary& lt;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
  std::size_t workspace = workspace_bytes;
  bool splits = false;  // K, among blocks
  bool accumulates = false;
  std::string why_not;  // no algorithm

  CublasLtPlan(const CublasLtLibrary& library, CublasLtGemm::Scaling scaling, i64 m, i64 n, i64 k,
               const CublasLtOperands& operands, CublasLtGemm::Order order = CublasLtGemm::Order::any)
      : lt(library) {
    const auto rows = [](i64 value) { return static_cast<std::uint64_t>(value); };
    lt.check(lt.operation_create(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
    const cublasOperation_t transposed = CUBLAS_OP_T, as_it_is = CUBLAS_OP_N;
    set(CUBLASLT_MATMUL_DESC_TRANSA, transposed, "TRANSA");
    set(CUBLASLT_MATMUL_DESC_TRANSB, as_it_is, "TRANSB");
    const bool rows_scaled = scaling == CublasLtGemm::Scaling::rows;
    accumulates = rows_scaled;
    if (scaling != CublasLtGemm::Scaling::none) {
      set(a_scale_mode, rows_scaled ? vec128_32f : blk128x128_32f, "A_SCALE_MODE");
      set(b_scale_mode, vec128_32f, "B_SCALE_MODE, VEC128_32F");
      set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, operands.b_scale, "A_SCALE_POINTER");
      set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, operands.a_scale, "B_SCALE_POINTER");
    } else {
      set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, i8{1}, "FAST_ACCUM");
    }
    layout(a, CUDA_R_8F_E4M3, rows(k), rows(n), k);
    layout(b, CUDA_R_8F_E4M3, rows(k), rows(m), k);
    layout(d, rows_scaled ? CUDA_R_32F : CUDA_R_16BF, rows(n), rows(m), n);
    choose(order);
  }
  ~CublasLtPlan() {
    for (const cublasLtMatrixLayout_t each : {a, b, d}) {
      if (each) lt.layout_destroy(each);
    }
    if (operation) lt.operation_destroy(operation);
  }
  CublasLtPlan(const CublasLtPlan&) = delete;
  CublasLtPlan& operator=(const CublasLtPlan&) = delete;

 private:
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value, const char* what) {
    lt.check(lt.operation_set(operation, attribute, &value, sizeof value),
             fmt::format("cublasLtMatmulDescSetAttribute ({})", what));
  }
  void layout(cublasLtMatrixLayout_t& which, cudaDataType type, std::uint64_t rows, std::uint64_t columns,
              i64 stride) {
    lt.check(lt.layout_create(&which, type, rows, columns, stride), "cublasLtMatrixLayoutCreate");
  }

  /// The first algorithm that the heuristic names; of those in ascending order, with workspace or without.
  void choose(CublasLtGemm::Order order) {
    const std::vector<cublasLtMatmulHeuristicResult_t> first =
        results(order == CublasLtGemm::Order::any ? 1 : 64);
    for (const cublasLtMatmulHeuristicResult_t& result : first) {
      if (take(result, order)) return;
    }
    if (order == CublasLtGemm::Order::any) return;
    workspace = 0;  // which leaves no room for partial sums
    for (const cublasLtMatmulHeuristicResult_t& result : results(64)) {
      if (take(result, order)) return;
    }
    if (why_not.empty()) why_not = "cublasLtMatmulAlgoGetHeuristic finds no algorithm that does not split K";
  }

  bool take(const cublasLtMatmulHeuristicResult_t& result, CublasLtGemm::Order order) {
    if (order == CublasLtGemm::Order::ascending && splits_of(result.algo)) return false;
    algorithm = result.algo;
    splits = splits_of(algorithm);
    why_not.clear();
    return true;
  }

  bool splits_of(const cublasLtMatmulAlgo_t& algo) const {
    std::int32_t parts = 0;
    std::size_t written = 0;
    lt.check(lt.algorithm_get(&algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts, sizeof parts, &written),
             "cublasLtMatmulAlgoConfigGetAttribute (SPLITK_NUM)");
    return parts != 0 && parts != 1;
  }

  /// At most `most` of the heuristic's results, the best first; when there are none, why_not.
  std::vector<cublasLtMatmulHeuristicResult_t> results(int most) {
    cublasLtMatmulPreference_t preference = nullptr;
    lt.check(lt.preference_create(&preference), "cublasLtMatmulPreferenceCreate");
    std::vector<cublasLtMatmulHeuristicResult_t> all(static_cast<std::size_t>(most));
    int found = 0;
    cublasStatus_t status =
        lt.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = lt.heuristic(lt.handle, operation, a, b, d, d, preference, most, all.data(), &found);
    }
    lt.preference_destroy(preference);
    all.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(found) : 0);
    if (!all.empty() && all[0].state != CUBLAS_STATUS_SUCCESS) status = all[0].state;
    std::erase_if(all, [](const auto& result) { return result.state != CUBLAS_STATUS_SUCCESS; });
    if (status != CUBLAS_STATUS_SUCCESS) {
      why_not = "cublasLtMatmulAlgoGetHeuristic: " + lt.words(status);
    } else if (all.empty()) {
      why_not = "cublasLtMatmulAlgoGetHeuristic finds no algorithm";
    }
    return all;
  }
};

CublasLt::CublasLt() : library_(std::make_unique<CublasLtLibrary>()), workspace_(workspace_bytes) {}
CublasLt::~CublasLt() = default;

std::string CublasLt::version() const {
  const std::size_t version =
      library_->version();  // 130002, or 120900: major, minor and patch in pairs of digits
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string CublasLt::description() const {
  return fmt::format("cuBLASLt {} ({})", version(), library_->name);
}

std::optional<std::string> CublasLtGemm::refusal(const CublasLt& lt, Scaling scaling, i64 m, i64 n, i64 k) {
  // Asked about real addresses, aligned as all of the driver's are: a null one might be taken for a missing scale.
  u8* const somewhere = lt.workspace_.device();
  const auto* scales = reinterpret_cast<const float*>(somewhere);
  const CublasLtPlan plan(*lt.library_, scaling, m, n, k, {somewhere, scales, somewhere, scales, somewhere});
  if (plan.why_not.empty()) return std::nullopt;
  return plan.why_not;
}

i64 CublasLtGemm::padded_m(const CublasLt& lt, i64 m, i64 n, i64 k) {
  std::string why;
  for (i64 padded = (m + 3) / 4 * 4; padded <= m + 128; padded += 4) {  // a scale's column begins on 16 bytes
    const std::optional<std::string> refused = refusal(lt, Scaling::block, padded, n, k);
    if (!refused) return padded;
    if (why.empty()) why = *refused;
  }
  throw Error(
      fmt::format("cuBLASLt {} takes no block-scaled FP8 GEMM of {}x{}x{}, nor of up to 128 rows more: {}",
                  lt.version(), m, n, k, why));
}

CublasLtGemm::CublasLtGemm(const CublasLt& lt, Scaling scaling, i64 m, i64 n, i64 k,
                           const CublasLtOperands& operands, Order order)
    : lt_(lt),
      operands_(operands),
      plan_(std::make_unique<CublasLtPlan>(*lt.library_, scaling, m, n, k, operands, order)) {
  if (!plan_->why_not.empty()) throw Error(fmt::format("{} (m {}, n {}, k {})", plan_->why_not, m, n, k));
}
CublasLtGemm::~CublasLtGemm() = default;

bool CublasLtGemm::splits_k() const { return plan_->splits; }

void CublasLtGemm::launch() const {
  const float one = 1, kept = plan_->accumulates ? 1 : 0;
  const CublasLtLibrary& lt = *lt_.library_;
  lt.check(lt.matmul(lt.handle, plan_->operation, &one, operands_.b, plan_->a, operands_.a, plan_->b, &kept,
                     operands_.d, plan_->d, operands_.d, plan_->d, &plan_->algorithm, lt_.workspace_.device(),
                     plan_->workspace, nullptr),
           "cublasLtMatmul");
}

}  // namespace fp8twin::bench
