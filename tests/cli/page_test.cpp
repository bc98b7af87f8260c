// Pages of results, in a browser where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/run_binary.h"
#include "unit/report/page_figures.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::array<Words, 4> kWithPages = {
    Words{"run", "--cores", "8"}, Words{"what-if", "--set", "workers=4"},
    Words{"sweep", "--vary", "workers=1,2,4", "--vary", "prefetch=1,2", "--cores", "8"},
    Words{"tune", "--vary", "workers=1,2,4", "--cores", "8"}};

std::string browser() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
      if (std::ifstream(folder + "/" + name)) return folder + "/" + name;
    }
  }
  return "";
}

// Returns the answer of page_checks.js, which the browser wrote into the page. The script compares
// the shown texts with the result, to their last digit.
json read_checks(const std::string& dom) {
  const std::string begin = "<pre id=\"checks\">";
  const std::size_t at = dom.find(begin);
  if (at == dom.npos) return {{"checked", 0}, {"wrong", {"the script did not run"}}};
  const std::size_t from = at + begin.size();
  return json::parse(dom.substr(from, dom.find("</pre>", from) - from));
}

class Page : public ::testing::Test {
 protected:
  Ended made_by(Words words, const std::string& path) const {
    for (const char* word : {"--engine", "model", "--cost", "decode=10ms", "--compute", "15ms",
                             "--batch", "4", "--html"})
      words.emplace_back(word);
    words.push_back(path);
    return run_binary(words);
  }

  // Returns the page after its scripts ran, and the log of the browser.
  Ended shown(const std::string& path) const {
    return run_program(browser(),
                       {"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                        "--enable-logging=stderr", "--user-data-dir=" + folder_.path("profile"),
                        "--dump-dom", "file://" + path});
  }

  // Returns why no browser shows the pages; nullptr if one does.
  static const char* unseen() {
    if (is_sanitized()) return "a browser is not sanitized: pages of the release build are shown";
    return browser().empty() ? "there is no Chromium" : nullptr;
  }

  void expect_ten_figures(const std::string& path) const {
    if (unseen() != nullptr) return;
    const json checks = read_checks(shown_with(path, script()));
    EXPECT_GE(checks.at("checked"), 10);
    EXPECT_EQ(checks.at("wrong"), json::array());
  }

  // Without its policy, which lets no script of a test run.
  std::string shown_with(const std::string& path, const std::string& script) const {
    std::ifstream file(path);
    std::string page{std::istreambuf_iterator<char>(file), {}};
    const std::size_t policy = page.find("<meta http-equiv");
    page.erase(policy, page.find('>', policy) + 1 - policy);
    page.insert(page.rfind("</body>"), "<script>" + script + "</script>");
    std::ofstream(path) << page;
    const Ended ended = shown(path);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr("CONSOLE")));
    return ended.out;
  }
  static std::string script() {
    std::ifstream file(LOADERSCOPE_SOURCE_DIR "/tests/cli/page_checks.js");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
};

TEST_F(Page, SavesAndReplacesPageOfEachCommand) {
  const std::string path = folder_.path("page.html");
  for (const Words& words : kWithPages) {
    const Ended ended = made_by(words, path);
    ASSERT_EQ(ended.exit_code, 0) << words[0] << ": " << ended.err;
    const std::string page = folder_.read("page.html");
    EXPECT_THAT(page, StartsWith("<!doctype html>")) << words[0];
    EXPECT_THAT(page, HasSubstr("<figure>")) << words[0];
    EXPECT_EQ(test::result_carried_by(page).at("schema"), "loaderscope." + words[0] + "/1");
  }
}

TEST_F(Page, RejectsUnusableTargets) {
  std::ofstream(folder_.path("mine.html")) << "<!doctype html>\n<p>my own\n";
  EXPECT_EQ(made_by({"run"}, folder_.path("mine.html")).exit_code, 1);
  EXPECT_EQ(made_by({"run"}, "-").exit_code, 64);
  const std::string both = folder_.path("both");
  const Ended ended = made_by({"run", "--json", both}, both);
  EXPECT_EQ(ended.exit_code, 64);
  EXPECT_THAT(ended.err, HasSubstr("is the file of --json too; give each its own"));
}

TEST_F(Page, RepeatsPageFromSavedResult) {
  const std::string saved = folder_.path("r.json");
  ASSERT_EQ(made_by({"run", "--json", saved}, folder_.path("a.html")).exit_code, 0);
  const Ended ended =
      run_binary({"report", saved, "--format", "html", "--output", folder_.path("b.html")});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(folder_.read("a.html"), folder_.read("b.html"));
}

TEST_F(Page, RepeatsPageOfEachSavedKind) {
  ASSERT_EQ(
      made_by({"run", "--json", folder_.path("run.json")}, folder_.path("run.html")).exit_code, 0);
  const std::vector<Words> commands = {
      {"sweep", "--vary", "workers=1,2,4"},
      {"tune", "--vary", "workers=1,2,4", "--cores", "8"},
      {"what-if", "--set", "workers=4"},
  };
  for (Words words : commands) {
    const std::string name = words[0];
    words.insert(words.end(), {"--json", folder_.path(name + ".json")});
    ASSERT_EQ(made_by(words, folder_.path(name + ".html")).exit_code, 0) << name;
    for (const std::string form : {"html", "json"}) {
      const Ended ended = run_binary({"report", folder_.path(name + ".json"), "--format", form});
      ASSERT_EQ(ended.exit_code, 0) << name << ": " << ended.err;
      EXPECT_EQ(ended.out, folder_.read(name + "." + form)) << name;
    }
  }
}

TEST_F(Page, ShowsFiguresOfTheResultInABrowser) {
  if (const char* why = unseen()) GTEST_SKIP() << why;
  const std::string path = folder_.path("page.html");
  const std::vector<Words> commands = {
      {"run", "--cost", "read=lognormal:5ms:1", "--cost", "collate=9ms", "--cost", "h2d=12ms",
       "--cost", "launch=1ms", "--workers", "2", "--copy", "sync"},
      {"sweep", "--vary", "workers=1,2,3,4,6", "--vary", "prefetch=1,2", "--cores", "8"},
      {"tune", "--vary", "workers=1,2,3,4,6,8", "--cores", "8"}};
  for (const Words& words : commands) {
    ASSERT_EQ(made_by(words, path).exit_code, 0) << words[0];
    const Ended ended = shown(path);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr("CONSOLE"))) << words[0];
    const json result = test::result_carried_by(ended.out);
    const std::vector<test::PageFigure> figures = test::find_figures(ended.out);
    for (const test::PageFigure& figure : figures)
      EXPECT_NEAR(figure.value, test::value_at(result, figure.path), 1e-6) << figure.path;
    EXPECT_GE(figures.size(), 8U) << words[0];
    EXPECT_THAT(ended.out, HasSubstr("<summary>tool {")) << words[0];  // the script has run
  }
}

TEST_F(Page, LinksCauseToItsWorstStall) {
  const std::string path = folder_.path("page.html");
  ASSERT_EQ(made_by({"run", "--workers", "1"}, path).exit_code, 0);
  const std::string page = folder_.read("page.html");
  EXPECT_THAT(page, HasSubstr("<a href=\"#stall-decode\">decode</a>"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#stall-decode\">see its worst stall</a>"));
  EXPECT_THAT(page, HasSubstr("<figure id=\"stall-decode\""));
}

// Workers that work a fifth of the time.
constexpr const char* kJobOfThreeWorkers = R"(
import os, time
for i in range(3):
    if os.fork() == 0:
        open('/proc/self/comm', 'w').write('pt_data_worker')
        end = time.time() + 4
        while time.time() < end:
            begin = time.thread_time()
            while time.thread_time() - begin < 0.005: pass
            time.sleep(0.02)
        os._exit(0)
for i in range(3): os.wait()
)";

json made_link() {
  json link = {{"schema", "loaderscope.probe-link/1"},
               {"tool", {{"version", "0.1.0"}}},
               {"device", {{"name", "Pretended"}}},
               {"near_cpus", 16},
               {"interrupted", false},
               {"link", json::array()}};
  for (const auto& [memory, copy, rate] :
       {std::tuple("pageable", "sync", 6.1e9), std::tuple("pinned-slots", "sync", 24.9e9),
        std::tuple("pinned-slots", "stream", 25.3e9)}) {
    for (const auto& [bytes, share] :
         {std::pair(65536, 0.5), std::pair(1 << 20, 0.9), std::pair(1 << 26, 1.0)}) {
      link["link"].push_back({{"memory", memory},
                              {"copy", copy},
                              {"bytes", bytes},
                              {"bytes_per_s", rate * share},
                              {"low", rate * share * 0.97},
                              {"high", rate * share * 1.01},
                              {"bare_bytes_per_s", 25.4e9 * share}});
    }
  }
  return link;
}

TEST_F(Page, ShowsRecomputedFiguresOfEachKindInABrowser) {
  if (browser().empty() && !is_sanitized()) GTEST_SKIP() << unseen();
  const std::string path = folder_.path("page.html"), saved = folder_.path("run.json");
  ASSERT_EQ(
      made_by({"run", "--cores", "8", "--workers", "1", "--cost", "collate=9ms", "--json", saved},
              folder_.path("run.html"))
          .exit_code,
      0);
  const std::string nsys = folder_.path("made.sqlite"), data = folder_.path("data");
  ASSERT_EQ(run_program("/usr/bin/env",
                        {"python3", LOADERSCOPE_SOURCE_DIR "/tests/tools/made_nsys.py", nsys})
                .exit_code,
            0);
  const std::string others = folder_.path("others");
  ASSERT_EQ(run_binary({"data", "make", data, "--count", "40"}).exit_code, 0);
  ASSERT_EQ(run_binary({"data", "make", others, "--count", "40", "--size", "64x48"}).exit_code, 0);
  const Words model = {"--engine", "model",   "--cost", "decode=10ms", "--compute",
                       "15ms",     "--batch", "4",      "--cores",     "8"};
  const auto modelled = [&](Words words) {
    words.insert(words.end(), model.begin(), model.end());
    return words;
  };
  const std::vector<Words> commands = {
      modelled({"run", "--cost", "read=lognormal:5ms:1", "--workers", "1"}),
      {"diagnose", nsys},
      modelled({"sweep", "--vary", "workers=1,2,3,4,6"}),
      modelled({"tune", "--vary", "workers=1,2,3,4,6,8"}),
      {"what-if", saved, "--set", "workers=4"},
      {"selftest", "--quick"},
      {"probe", "--quick"},
      {"plan", "--from", saved, "--ranks", "64", "--storage", "100MB/s:1ms"},
      modelled(
          {"compare", "--a", "--workers 1", "--b", "--workers 2", "--pairs", "6", "--steps", "30"}),
      {"data", "info", data},
      {"data", "info", data, others},
      {"watch", "--duration", "2s", "--", "python3", "-c", kJobOfThreeWorkers}};
  for (Words words : commands) {
    SCOPED_TRACE(words[0]);
    words.insert(std::find(words.begin(), words.end(), "--"), {"--html", path, "--force"});
    const Ended made = run_binary(words);
    if (made.err.find("built without") != std::string::npos) continue;
    // A selftest on a busy machine may have no verdict. It still writes its page.
    const bool cannot_tell = words[0] == "selftest" && made.exit_code == 2;
    ASSERT_TRUE(made.exit_code == 0 || cannot_tell) << made.err;
    expect_ten_figures(path);
  }
  // There may be no GPU here.
  const std::string link = folder_.write("link.json", made_link().dump());
  const Ended made = run_binary({"report", link, "--format", "html", "--output", path, "--force"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  expect_ten_figures(path);
}

TEST_F(Page, ShowsValuesAtThePointerInABrowser) {
  if (const char* why = unseen()) GTEST_SKIP() << why;
  const std::string path = folder_.path("page.html");
  ASSERT_EQ(made_by({"run", "--workers", "1"}, path).exit_code, 0);
  const std::string dom = shown_with(
      path,
      "const plot = document.querySelector('svg.zoom'), box = plot.getBoundingClientRect();"
      "plot.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + box.width / 2}));");
  const std::size_t tip = dom.find("<div class=\"tip\"");
  ASSERT_NE(tip, dom.npos);
  const std::string shown = dom.substr(tip, dom.find("</div>", tip) - tip);
  EXPECT_THAT(shown, HasSubstr("visibility: visible"));
  EXPECT_THAT(shown, HasSubstr("<b>step "));
  EXPECT_THAT(shown, HasSubstr("<i class=\"k-compute\"></i>compute <b>15 ms</b>"));
  EXPECT_THAT(shown, HasSubstr("<i class=\"k-decode\"></i>decode <b>25 ms</b>"));
}

TEST_F(Page, DrawsTheRanksFirst) {
  const std::string path = folder_.path("page.html");
  ASSERT_EQ(run_binary({"run", "--scenario",
                        LOADERSCOPE_SOURCE_DIR "/scenarios/straggler-rank.conf", "--html", path})
                .exit_code,
            0);
  const std::string page = folder_.read("page.html");
  const std::size_t ranks = page.find("<h2>What each rank does</h2>");
  const std::size_t slow = page.find("<h2>Where the time of a step goes: rank 1</h2>");
  ASSERT_NE(ranks, page.npos);
  ASSERT_NE(slow, page.npos);
  EXPECT_LT(ranks, page.find("<b>Fix:</b>"));
  EXPECT_LT(ranks, slow);
  EXPECT_THAT(page, HasSubstr(" Of rank 1.</p>"));
  EXPECT_THAT(page, Not(HasSubstr(" Of rank 0.</p>")));
}

TEST_F(Page, ZoomsByKeysInABrowser) {
  if (const char* why = unseen()) GTEST_SKIP() << why;
  const std::string path = folder_.path("page.html");
  ASSERT_EQ(made_by({"run"}, path).exit_code, 0);
  const std::string dom = shown_with(path,
                                     "const first = document.querySelector('svg.zoom');"
                                     "for (const key of ['+', '+', 'ArrowRight'])"
                                     "  first.dispatchEvent(new KeyboardEvent('keydown', {key}));"
                                     "document.querySelector('#tree summary').click();");
  EXPECT_THAT(dom, HasSubstr("viewBox=\"260 0 640 200\""));
}

}  // namespace
}  // namespace loaderscope::testing_cli
