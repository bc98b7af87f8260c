// The index of frames of videos: a group of frames that begins with a key frame is a folder of it,
// whose name is the time of that. The extents count packets.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "loaderscope/errors.h"
#include "source/folder_listing.h"
#include "source/index_builder.h"
#include "source/index_cache.h"
#include "source/named_files.h"
#include "source/parallel.h"
#include "source/video.h"
#include "source/video_file.h"
#include "source/video_index.h"

namespace loaderscope::source {
namespace {

namespace fs = std::filesystem;

// Raised whenever the same files would be listed in another way.
constexpr std::string_view kFrameRules = "1";

struct ListedVideo {
  FolderStamp stamp;
  VideoListing listing;
};

ListedVideo list_video(const std::string& path) {
  struct stat facts {};
  ::stat(path.c_str(), &facts);
  try {
    VideoFile file(path);
    return {version_stamp(facts), list_frames(file)};
  } catch (const ValueError& error) {
    throw add_place<RunError>(shown_text(path) + ": ", error);
  }
}

std::int32_t number_of(std::int64_t packet) {
  if (packet > INT32_MAX) throw RunError("a video has more than 2^31 packets", "cut it into parts");
  return static_cast<std::int32_t>(packet);
}

void add_video(const ListedVideo& video, std::uint32_t root, std::int64_t every,
               IndexBuilder& builder) {
  const VideoListing& listing = video.listing;
  builder.add_folder({root, "", number_of(listing.delay), video.stamp});  // is watched
  std::vector<std::uint32_t> groups;
  for (const ListedKey& key : listing.keys)
    groups.push_back(
        builder.add_folder({root, std::to_string(key.pts), number_of(key.packet), {}}));
  for (std::size_t i = 0; i < listing.frames.size(); i += static_cast<std::size_t>(every)) {
    const ListedFrame& frame = listing.frames[i];
    builder.add(groups[frame.key], std::to_string(i));
    const std::int64_t first = listing.keys[frame.key].packet;
    builder.place_last({static_cast<std::uint32_t>(frame.packet - first),
                        static_cast<std::uint32_t>(frame.last_packet - first + 1)});
  }
}

Index index_frames(const std::vector<std::string>& files, std::int64_t every,
                   std::string_view identity, const SourceContext& context) {
  std::vector<ListedVideo> videos(files.size());
  for_each_index(std::ssize(files), "listing frames", context, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    videos[place] = list_video(files[place]);
  });
  IndexBuilder builder;
  for (std::uint32_t i = 0; i < files.size(); ++i) add_video(videos[i], i, every, builder);
  return builder.finish(identity);
}

bool is_video(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.starts_with('.') &&
         std::ranges::any_of(kVideoSuffixes,
                             [&](std::string_view suffix) { return name.ends_with(suffix); });
}

// All below a folder: data sets have one for each camera.
std::vector<std::string> videos_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    if (is_video(entries->path()) && entries->is_regular_file(ignored))
      files.push_back(entries->path().string());
  }
  if (error) throw RunError(shown_text(folder) + ": cannot be listed (" + error.message() + ")");
  if (files.empty()) {
    throw RunError(fmt::format("{}: holds no files named *{}", shown_text(folder),
                               fmt::join(kVideoSuffixes, ", *")),
                   "check the path given with --data");
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<std::string> video_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(path, ignored);
    for (std::string& file : is_folder ? videos_below(path) : named_files({path}, kVideoSuffixes))
      files.push_back(std::move(file));
  }
  return files;
}

Index index_of_videos(const SourceOptions& options, const std::vector<std::string>& files,
                      const SourceContext& context) {
  const std::int64_t every = count_parameter(options.words, "every", 1);
  std::string key = fmt::format("video {} {} ", kFrameRules, every);
  for (const std::string& file : files) append_path(key, file);
  return cached_index(options, key, key, files, 0, context,
                      [&] { return index_frames(files, every, key, context); })
      .index;
}

VideoFrames::VideoFrames(Index index) : index_(std::move(index)) {
  for (std::int64_t i = 0; i < index_.folders(); ++i) {
    const FolderEntry folder = index_.folder(i);
    if (!folder.relative.empty()) continue;
    delays_.resize(std::max<std::size_t>(delays_.size(), std::size_t{folder.root} + 1));
    delays_[folder.root] = folder.label;
  }
}

PlacedFrame VideoFrames::frame(std::int64_t sample) const {
  thread_local std::string number;
  PlacedFrame frame;
  frame.group = index_.file(sample, number);
  const FolderEntry group = index_.folder(frame.group);
  frame.file = group.root;
  frame.first_packet = group.label;
  std::from_chars(group.relative.data(), group.relative.data() + group.relative.size(),
                  frame.key_time);
  const StoredExtent packets = index_.extent(sample).value_or(StoredExtent{});
  frame.packets_before = packets.begin;
  frame.packets = std::max(packets.bytes, packets.begin + 1);
  frame.delay = group.root < delays_.size() ? delays_[group.root] : 0;
  return frame;
}

std::string VideoFrames::number(std::int64_t sample) const {
  std::string number;
  index_.file(sample, number);
  return number;
}

}  // namespace loaderscope::source
