# Doxygen's input filter for headers: turns the opening // comment into the file's documentation. Its first paragraph
# becomes prose, the rest stays as drawn. The dropped #pragma once makes up for the added line, so numbers stay right.
function prose(line) {
  gsub(/[\\@<>&#%$]/, "\\\\&", line)
  return line
}
NR == 1 && /^\/\// { opening = 1; print "/*! \\file" }
opening && /^\/\// {
  sub(/^\/\/ ?/, "")
  if (!drawn && $0 == "") { drawn = 1; printf "\\verbatim\n"; next }
  print drawn ? $0 : prose($0)
  next
}
opening { opening = 0; printf "%s*/\n", drawn ? "\\endverbatim " : ""; next_is_pragma = 1; if (/^#pragma once/) next }
{ print }
