# cmake --install build --prefix P: the library, its headers, the program, and what find_package(fp8twin) reads.
#
#   P/include/fp8twin/model.hpp          #include <fp8twin/model.hpp>, the entry that stays as it is
#   P/include/fp8twin/emulator/...       every other header, under the path the project itself uses
#   P/lib/cmake/fp8twin/                 the package: targets fp8twin::emulator and, where Boost.Context is, fp8twin::machine
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS fp8twin_emulator EXPORT fp8twinTargets)
install(TARGETS fp8twin_machine EXPORT fp8twinMachineTargets)
install(DIRECTORY emulator/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)
install(DIRECTORY emulator DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fp8twin FILES_MATCHING PATTERN *.hpp
  PATTERN include EXCLUDE PATTERN cli EXCLUDE PATTERN mpi EXCLUDE PATTERN engine EXCLUDE PATTERN bench EXCLUDE
  PATTERN strict_json.hpp EXCLUDE)  # the library's own: it includes nlohmann/json.hpp, which users need not have
if(FP8TWIN_BUILD_PROGRAM)
  install(TARGETS fp8twin)
  if(TARGET fp8twin_mpi)
    install(TARGETS fp8twin_mpi)
  endif()
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/fp8twin)
install(EXPORT fp8twinTargets NAMESPACE fp8twin:: DESTINATION ${package})
install(EXPORT fp8twinMachineTargets NAMESPACE fp8twin:: DESTINATION ${package})
configure_package_config_file(emulator/fp8twinConfig.cmake.in ${PROJECT_BINARY_DIR}/fp8twinConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fp8twinConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fp8twinConfig.cmake ${PROJECT_BINARY_DIR}/fp8twinConfigVersion.cmake
  DESTINATION ${package})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
