namespace fp8twin {}
