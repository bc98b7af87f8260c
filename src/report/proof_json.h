// The proof of a saved result.
#pragma once

#include "loaderscope/proof.h"
#include "report/json_stream.h"
#include "report/json_tree.h"

namespace loaderscope {

void write_proof(JsonStream& json, const Proof& proof);  // as the member "proof"
Proof read_proof(const JsonCursor& json);                // throws RunError through its cursor

}  // namespace loaderscope
