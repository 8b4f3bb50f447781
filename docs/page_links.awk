# Doxygen's input filter for pages. The pages link to each other by file name, so that they read well anywhere; Doxygen
# gets the same links by label, since it cannot follow a file name where the path to the project has a space in it.
NR == 1 && /^# / {
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.md$/, "", name)
  if (name != "index") $0 = $0 " {#page_" name "}"
}
{
  while (match($0, /\]\([a-z]+\.md\)/)) {
    name = substr($0, RSTART + 2, RLENGTH - 6)
    $0 = substr($0, 1, RSTART + 1) "\\ref page_" name substr($0, RSTART + RLENGTH - 1)
  }
  print
}
