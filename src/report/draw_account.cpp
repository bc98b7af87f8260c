#include "report/draw_account.h"

#include <fmt/format.h>

#include "analysis/totals.h"
#include "analysis/wording.h"

namespace loaderscope {

std::vector<page::Part> account_parts(const Account& account, bool has_busy, double length) {
  std::vector<page::Part> parts;
  const auto add = [&](std::string_view name, Nanos ns) {
    const double share = window_share(ns, account);
    if (ns > 0)
      parts.push_back(
          {std::string(name), std::string(name), length * share, format_percent(share)});
  };
  if (has_busy) add("compute", account.compute);
  for (const auto& word : Words<Cause>::table()) add(word.name, account.stall[word.value]);
  return parts;
}

}  // namespace loaderscope
