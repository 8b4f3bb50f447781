// The error type, by its path inside the project; it is public, since fp8twin/model.hpp throws it.
#pragma once

#include "fp8twin/error.hpp"
