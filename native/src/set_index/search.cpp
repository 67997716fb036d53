#include "neardup/set_index/search.hpp"

#include <algorithm>
#include <stdexcept>

#include "neardup/parallel.hpp"

namespace neardup {

namespace {

constexpr std::size_t kTask = 32;

// Matches of several documents, one after the other.
void append(std::vector<SetMatch>&& matches, FoundSets& to) {
    for (const SetMatch& match : matches) {
        to.numbers.push_back(match.number);
        to.similarities.push_back(match.similarity);
    }
    to.offsets.push_back(static_cast<std::int64_t>(to.numbers.size()));
}

// Documents have as many bands as the segments that they are looked up in, and no segment is asked
// for sets that it was not made to find.
void require_fitting(const SetView& view, const SetPlan& plan, const SetQuestion& question) {
    bool fitting = view.tail == nullptr || view.tail->plan().fits(plan);
    double least = 0;
    for (const SetSegment* segment : view.segments) {
        fitting = fitting && segment->plan().fits(plan);
        least = std::max(least, segment->plan().threshold);
    }
    if (!fitting) throw std::invalid_argument("documents were made for another plan");
    if (!(question.threshold > 0 && question.threshold >= least && question.threshold <= 1))
        throw std::invalid_argument("a threshold is at least that of the index and at most 1");
}

class SetSearcher {
  public:
    SetSearcher(const SetView& view, const SetPlan& plan, const SetQuestion& question,
                const SetKernels& kernels)
        : view_(view), question_(question), comparer_(plan, kernels) {}

    std::vector<SetMatch> search(const IndexedSet& asked, std::uint64_t skip) {
        BestMatches best(question_.limit);
        if (asked.size != 0 && question_.limit != 0) {
            comparer_.begin(asked, question_.threshold);
            for (std::size_t i = 0; i < view_.segments.size(); ++i)
                view_.segments[i]->search(comparer_, question_, view_.dead[i], skip, best,
                                          scratch_);
            if (view_.tail != nullptr)
                view_.tail->search(comparer_, question_, view_.revision, skip, 0, best);
        }
        return best.take();
    }

  private:
    const SetView& view_;
    SetQuestion question_;
    SetComparer comparer_;
    SetSegment::Scratch scratch_;
};

}  // namespace

std::vector<SetMatch> search_set(const SetView& view, const IndexedSet& asked, const SetPlan& plan,
                                 const SetQuestion& question, std::uint64_t skip,
                                 const SetKernels& kernels) {
    require_fitting(view, plan, question);
    return SetSearcher(view, plan, question, kernels).search(asked, skip);
}

FoundSets search_sets(const SetView& view, const SetDocuments& documents,
                      const SetQuestion& question, const std::uint64_t* skip, std::size_t threads,
                      const SetKernels& kernels) {
    require_fitting(view, documents.plan(), question);
    const std::size_t count = documents.size(), tasks = (count + kTask - 1) / kTask;
    std::vector<FoundSets> parts(tasks);
    parallel_tasks(tasks, threads, [&](const auto& next) {
        SetSearcher searcher(view, documents.plan(), question, kernels);
        for (std::size_t task = next(); task < tasks; task = next())
            for (std::size_t i = task * kTask; i < std::min(count, (task + 1) * kTask); ++i)
                append(searcher.search(documents.at(i), skip == nullptr ? kNoNumber : skip[i]),
                       parts[task]);
    });
    FoundSets all;
    all.offsets.push_back(0);
    for (const FoundSets& part : parts) {
        const auto base = static_cast<std::int64_t>(all.numbers.size());
        for (const std::int64_t offset : part.offsets) all.offsets.push_back(base + offset);
        all.numbers.insert(all.numbers.end(), part.numbers.begin(), part.numbers.end());
        all.similarities.insert(all.similarities.end(), part.similarities.begin(),
                                part.similarities.end());
    }
    return all;
}

}  // namespace neardup
