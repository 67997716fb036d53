// Of LMDB 0.9 on machines with 64 bits: lmdb.h and mdb.c describe the format.
#include "neardup/index_tables/page_check.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace neardup {

namespace {

constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
constexpr std::uint32_t kMagic = 0xBEEFC0DE, kVersion = 1;
constexpr std::uint16_t kBranch = 1, kLeaf = 2, kOverflow = 4, kMeta = 8;
constexpr std::uint16_t kBigData = 1;
constexpr std::uint16_t kIntegerKeys = 8;
constexpr std::size_t kHead = 16, kMetaSize = 136, kNodeHead = 8;
constexpr std::size_t kMostLevels = 32, kLongestKey = 511;
constexpr std::uint64_t kFrontPages = 2;

[[noreturn]] void damaged(const std::string& what) { throw std::invalid_argument(what); }

[[noreturn]] void damaged(std::uint64_t page, const char* what) {
    damaged("page " + std::to_string(page) + " " + what);
}

template <typename T>
T number_at(const std::uint8_t* data, std::size_t at) {
    T value;
    std::memcpy(&value, data + at, sizeof value);
    return value;
}

struct Tree {
    explicit Tree(const std::uint8_t* data)
        : pad(number_at<std::uint32_t>(data, 0)),
          flags(number_at<std::uint16_t>(data, 4)),
          depth(number_at<std::uint16_t>(data, 6)),
          branches(number_at<std::uint64_t>(data, 8)),
          leaves(number_at<std::uint64_t>(data, 16)),
          overflow(number_at<std::uint64_t>(data, 24)),
          entries(number_at<std::uint64_t>(data, 32)),
          root(number_at<std::uint64_t>(data, 40)) {}

    std::uint32_t pad;  // of the free pages' tree: the size of a page
    std::uint16_t flags, depth;
    std::uint64_t branches, leaves, overflow, entries, root;
};

// One of the two pages in front; the newer one holds.
struct Meta {
    Meta(const std::uint8_t* page, std::uint64_t number)
        : address(number_at<std::uint64_t>(page, kHead + 8)),
          free(page + kHead + 24),
          main(page + kHead + 72),
          last_page(number_at<std::uint64_t>(page, kHead + 120)),
          transaction(number_at<std::uint64_t>(page, kHead + 128)) {
        if (number_at<std::uint64_t>(page, 0) != number ||
            number_at<std::uint16_t>(page, 10) != kMeta ||
            number_at<std::uint32_t>(page, kHead) != kMagic)
            damaged(number, "is not what a file of LMDB begins with");
        if (number_at<std::uint32_t>(page, kHead + 4) != kVersion)
            damaged(number, "is of another version of LMDB");
        if (address != 0 || free.flags != kIntegerKeys || main.flags != 0 || main.pad != 0)
            damaged(number, "tells of tables that no index has");
        if (last_page == kNoPage || last_page + 1 < kFrontPages)
            damaged(number, "tells of too few pages");
        if (transaction != 0 && transaction % 2 != number)
            damaged(number, "was written in the place of the other");
    }

    std::uint64_t address;
    Tree free, main;
    std::uint64_t last_page, transaction;
};

struct FrontPages {
    std::size_t page_size;
    Meta newest;
};

std::vector<std::uint8_t> read_front(const PageFile& file, std::uint64_t at) {
    std::vector<std::uint8_t> page(kHead + kMetaSize);
    if (at + page.size() > file.size || !file.read(at, page.size(), page.data()))
        damaged("it is cut off");
    return page;
}

FrontPages front_pages(const PageFile& file) {
    const Meta first(read_front(file, 0).data(), 0);
    const std::size_t size = first.free.pad;
    if (!std::has_single_bit(size) || size < 512 || size > 32768)
        damaged("its pages are of an impossible size");
    const Meta second(read_front(file, size).data(), 1);
    if (second.free.pad != size) damaged("its first pages contradict each other");
    if (file.size < kFrontPages * size) damaged("it is cut off");
    const Meta& newer = first.transaction < second.transaction ? second : first;
    const Meta& older = first.transaction < second.transaction ? first : second;
    // Each commit writes the page that the one before it did not.
    if (newer.transaction - older.transaction > 1) damaged("its first pages are no neighbours");
    return {size, newer};
}

// A bit for each page.
class PageSet {
  public:
    explicit PageSet(std::uint64_t pages) : bits_(pages / 64 + 1) {}
    // False if it was present already.
    bool insert(std::uint64_t page) {
        std::uint64_t& word = bits_[page / 64];
        const std::uint64_t bit = std::uint64_t{1} << page % 64;
        if ((word & bit) != 0) return false;
        word |= bit;
        return true;
    }

  private:
    std::vector<std::uint64_t> bits_;
};

class Checker {
  public:
    explicit Checker(const PageFile& file)
        : file_(file),
          front_(front_pages(file)),
          size_(front_.page_size),
          end_(front_.newest.last_page + 1),
          known_(bounded(end_)) {}

    void check() {
        walk(front_.newest.free, true);
        walk(front_.newest.main, false);
        if (counted_ != end_ - kFrontPages) damaged("some pages belong to nothing");
    }

  private:
    struct Key {
        const std::uint8_t* data = nullptr;  // nullptr: none
        std::size_t size = 0;
    };
    struct Node {
        std::size_t at;  // of its head
        std::uint16_t low, high, flags;
        Key key;
        std::size_t data;  // where its data begin
    };
    struct Walk {
        const Tree& tree;
        bool is_free;
        std::uint64_t branches = 0, leaves = 0, overflow = 0, entries = 0;
        std::vector<std::uint8_t> last;  // the last key of a leaf
    };
    using Page = std::vector<std::uint8_t>;

    // Pages that are not in the file must be free, and each of those is written down in it.
    std::uint64_t bounded(std::uint64_t pages) const {
        if (pages > file_.size / size_ + file_.size / 8) damaged("it tells of too many pages");
        return pages;
    }

    void take(std::uint64_t first, std::uint64_t count) {
        if (first < kFrontPages || first >= end_ || count > end_ - first)
            damaged(first, "is none of the file");
        for (std::uint64_t page = first; page < first + count; ++page)
            if (!known_.insert(page)) damaged(page, "is used twice");
        counted_ += count;
    }

    void read(std::uint64_t page, std::size_t size, std::uint8_t* to) const {
        if (page > file_.size / size_ || size > file_.size - page * size_ ||
            !file_.read(page * size_, size, to))
            damaged(page, "is cut off");
    }

    void walk(const Tree& tree, bool is_free) {
        Walk walk{tree, is_free, 0, 0, 0, 0, {}};
        if (tree.root != kNoPage) {
            if (tree.depth == 0 || tree.depth > kMostLevels)
                damaged("a tree has an impossible depth");
            visit(walk, tree.root, 1, {}, {});
        } else if (tree.depth != 0) {
            damaged("a tree without pages has some depth");
        }
        if (walk.branches != tree.branches || walk.leaves != tree.leaves ||
            walk.overflow != tree.overflow || walk.entries != tree.entries)
            damaged("a tree does not have as many pages as it should");
    }

    // A page and all below it, whose keys are at least `from` and below `to`.
    void visit(Walk& walk, std::uint64_t number, std::size_t level, const Key& from,
               const Key& to) {
        take(number, 1);
        Page page(size_);
        read(number, size_, page.data());
        const auto flags = number_at<std::uint16_t>(page.data(), 10);
        if (number_at<std::uint64_t>(page.data(), 0) != number ||
            flags != (level == walk.tree.depth ? kLeaf : kBranch))
            damaged(number, "is not what it should be");
        const std::vector<Node> nodes = nodes_of(number, page, flags == kLeaf);
        if (flags == kLeaf) {
            ++walk.leaves;
            walk.entries += nodes.size();
            for (const Node& node : nodes) visit_value(walk, number, page, node, from, to);
            return;
        }
        ++walk.branches;
        if (nodes.size() < (walk.is_free ? 1U : 2U)) damaged(number, "has too few below it");
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const Node& node = nodes[i];
            // The first has no key of its own.
            const Key& lower = i == 0 ? from : node.key;
            const Key& upper = i + 1 == nodes.size() ? to : nodes[i + 1].key;
            if (i != 0) require_key(walk, number, node.key);
            if (i != 0 && !in_order(walk, number, lower, from, to))
                damaged(number, "has keys in the wrong order");
            const std::uint64_t child =
                node.low | std::uint64_t{node.high} << 16 | std::uint64_t{node.flags} << 32;
            visit(walk, child, level + 1, lower, upper);
        }
    }

    // The nodes of a page, which fill it from where they begin to its end.
    std::vector<Node> nodes_of(std::uint64_t number, const Page& page, bool is_leaf) const {
        const std::size_t lower = number_at<std::uint16_t>(page.data(), 12);
        const std::size_t upper = number_at<std::uint16_t>(page.data(), 14);
        if (lower <= kHead || lower > upper || upper > size_ || lower % 2 != 0)
            damaged(number, "has nodes where none can be");
        std::vector<Node> nodes;
        std::vector<std::pair<std::size_t, std::size_t>> places;
        for (std::size_t at = kHead; at < lower; at += 2) {
            Node node{};
            node.at = number_at<std::uint16_t>(page.data(), at);
            if (node.at < upper || node.at + kNodeHead > size_)
                damaged(number, "has a node where none can be");
            node.low = number_at<std::uint16_t>(page.data(), node.at);
            node.high = number_at<std::uint16_t>(page.data(), node.at + 2);
            node.flags = number_at<std::uint16_t>(page.data(), node.at + 4);
            node.key = {page.data() + node.at + kNodeHead,
                        number_at<std::uint16_t>(page.data(), node.at + 6)};
            node.data = node.at + kNodeHead + node.key.size;
            std::size_t end = node.data;
            if (is_leaf) end += (node.flags & kBigData) != 0 ? 8 : value_size(node);
            if (end > size_) damaged(number, "has a node that is too long");
            places.emplace_back(node.at, (end + 1) / 2 * 2);
            nodes.push_back(node);
        }
        std::sort(places.begin(), places.end());
        std::size_t reached = upper;
        for (const auto& [begin, end] : places) {
            if (begin != reached) damaged(number, "has nodes that overlap");
            reached = end;
        }
        if (reached != size_) damaged(number, "has a gap between its nodes");
        return nodes;
    }

    static std::size_t value_size(const Node& node) {
        return node.low | std::size_t{node.high} << 16;
    }

    void visit_value(Walk& walk, std::uint64_t number, const Page& page, const Node& node,
                     const Key& from, const Key& to) {
        require_key(walk, number, node.key);
        const Key last{walk.last.empty() ? nullptr : walk.last.data(), walk.last.size()};
        if (!in_order(walk, number, node.key, from, to) ||
            (last.data != nullptr && compare(walk, last, node.key) >= 0))
            damaged(number, "has keys in the wrong order");
        walk.last.assign(node.key.data, node.key.data + node.key.size);
        if (node.flags > kBigData) damaged(number, "tells of tables that no index has");
        std::vector<std::uint64_t> list;
        const std::size_t size = value_size(node);
        if (walk.is_free && (size % 8 != 0 || size == 0))
            damaged(number, "has a list of free pages that is cut off");
        if (node.flags == kBigData) {
            const std::uint64_t first = visit_large(walk, page, node);
            if (walk.is_free) {
                std::vector<std::uint8_t> bytes(kHead + size);
                read(first, bytes.size(), bytes.data());
                list.resize(size / 8);
                std::memcpy(list.data(), bytes.data() + kHead, size);
            }
        } else if (walk.is_free) {
            list.resize(size / 8);
            std::memcpy(list.data(), page.data() + node.data, size);
        }
        if (walk.is_free) take_free(number, node, list);
    }

    // The pages of a value that has some for itself; the number of the first.
    std::uint64_t visit_large(Walk& walk, const Page& page, const Node& node) {
        const auto first = number_at<std::uint64_t>(page.data(), node.data);
        const std::uint64_t needed = (kHead - 1 + value_size(node)) / size_ + 1;
        if (first < kFrontPages || first >= end_) damaged(first, "is none of the file");
        std::uint8_t head[kHead];
        read(first, sizeof head, head);
        // A value that was written again in the same commit may have been longer before.
        const std::uint64_t pages = number_at<std::uint32_t>(head, 12);
        if (number_at<std::uint64_t>(head, 0) != first ||
            number_at<std::uint16_t>(head, 10) != kOverflow || pages < needed)
            damaged(first, "is not what it should be");
        take(first, pages);
        if (first + pages > file_.size / size_) damaged(first, "is cut off");
        walk.overflow += pages;
        return first;
    }

    // The pages that a commit freed, the highest first.
    void take_free(std::uint64_t number, const Node& node, const std::vector<std::uint64_t>& list) {
        const auto freed = number_at<std::uint64_t>(node.key.data, 0);
        if (freed == 0 || freed > front_.newest.transaction || list[0] != list.size() - 1)
            damaged(number, "has an impossible list of free pages");
        for (std::size_t i = 1; i < list.size(); ++i) {
            if (i > 1 && list[i] >= list[i - 1])
                damaged(number, "has an impossible list of free pages");
            take(list[i], 1);
        }
    }

    void require_key(const Walk& walk, std::uint64_t number, const Key& key) const {
        if (walk.is_free ? key.size != 8 : key.size == 0 || key.size > kLongestKey)
            damaged(number, "has a key of an impossible length");
    }

    static int compare(const Walk& walk, const Key& x, const Key& y) {
        if (walk.is_free) {
            const auto a = number_at<std::uint64_t>(x.data, 0),
                       b = number_at<std::uint64_t>(y.data, 0);
            return a < b ? -1 : a > b ? 1 : 0;
        }
        const int first = std::memcmp(x.data, y.data, std::min(x.size, y.size));
        if (first != 0) return first;
        return x.size < y.size ? -1 : x.size > y.size ? 1 : 0;
    }

    bool in_order(const Walk& walk, std::uint64_t number, const Key& key, const Key& from,
                  const Key& to) const {
        if (to.data != nullptr) require_key(walk, number, to);
        return (from.data == nullptr || compare(walk, from, key) <= 0) &&
               (to.data == nullptr || compare(walk, key, to) < 0);
    }

    const PageFile& file_;
    FrontPages front_;
    std::size_t size_;
    std::uint64_t end_;  // behind the last page
    PageSet known_;
    std::uint64_t counted_ = 0;
};

}  // namespace

void check_front_pages(const PageFile& file) { front_pages(file); }

void check_pages(const PageFile& file) { Checker(file).check(); }

}  // namespace neardup
