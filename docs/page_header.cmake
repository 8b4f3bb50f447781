# Puts the theme's scripts (SCRIPTS) before </head> in Doxygen's own page header, where the theme is installed.
if(AWESOME)
  file(READ ${HEADER} header)
  file(READ ${SCRIPTS} scripts)
  string(REPLACE "</head>" "${scripts}</head>" header "${header}")
  file(WRITE ${HEADER} "${header}")
endif()
