# Writes OUTPUT, a C++ file that defines fp8twin::jit::sources() with the text of every file of HEADERS (paths
# from ROOT).
#   cmake -DROOT=... -DOUTPUT=... "-DHEADERS=a.hpp|b.hpp" -P embed.cmake
string(REPLACE "|" ";" HEADERS "${HEADERS}")
set(table "#include \"gpu/jit/sources.hpp\"\n\nnamespace fp8twin::jit {\n\n")
string(APPEND table "std::span<const Header> sources() {\n")
string(APPEND table "  static constexpr Header all[] = {\n")
foreach(header IN LISTS HEADERS)
  file(READ ${ROOT}/${header} text)
  string(APPEND table "{\"${header}\", R\"fp8twin(${text})fp8twin\"},\n")
endforeach()
string(APPEND table "  };\n  return all;\n}\n\n}  // namespace fp8twin::jit\n")
file(WRITE ${OUTPUT} "${table}")
