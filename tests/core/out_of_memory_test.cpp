// Matchers when memory runs out: after any allocation that fails, the next texts are compared as if nothing had happened.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "base/unicode.h"
#include "matching/celab/text.h"
#include "matching/characters.h"

namespace {

long allocations_left = -1;  // below 0: all succeed

void* allocate(std::size_t size) {
    if (allocations_left == 0) throw std::bad_alloc();
    if (allocations_left > 0) --allocations_left;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}

template <class Work>
void run_with_allocations(long count, Work work) {
    allocations_left = count;
    try {
        work();
    } catch (const std::bad_alloc&) {
    }
    allocations_left = -1;
}

std::string han_text(std::size_t size) {
    std::string text;
    for (char32_t c = 0x4E00; c < 0x4E00 + size; ++c) tesla::append_utf8(c, text);
    return text;
}

// Each text is longer than those before, so that memory of the thread has to grow. The characters of the failed pair come again.
bool characters_are_counted() {
    using namespace tesla;
    CharacterScratch scratch;
    const CharacterBag forth("一丁", scratch), back("丁一", scratch);
    for (long count = 0; count < 12; ++count) {
        const auto size = static_cast<std::size_t>(100 + 10 * count);
        const CharacterBag x(han_text(size), scratch), y(han_text(40 * size), scratch);
        std::int64_t matches[kMaxCharacterOrder];
        run_with_allocations(count, [&] { CharacterBag::overlap(x, y, kMaxCharacterOrder, matches); });
        CharacterBag::overlap(forth, back, 2, matches);
        if (matches[0] != 2 || matches[1] != 0) return false;
    }
    return true;
}

bool types_have_their_categories_once() {
    using namespace tesla::celab;
    Vocabulary vocabulary;
    const std::vector<std::string_view> units{"a", "b", "a", "c", "b"};
    const Text as_it_should_be = [&] {
        Text text(vocabulary, units, 2, {});
        for (std::uint32_t id = 0; id < vocabulary.size(); ++id) vocabulary.define(id, &id, 1);
        text.find_types(vocabulary);
        return text;
    }();
    for (long count = 0; count < 40; ++count) {
        Text text(vocabulary, units, 2, {});
        run_with_allocations(count, [&] { text.find_types(vocabulary); });
        text.find_types(vocabulary);
        if (text.categories() != as_it_should_be.categories() || text.by_joined() != as_it_should_be.by_joined()) return false;
    }
    return true;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

int main() {
    const bool characters = characters_are_counted(), types = types_have_their_categories_once();
    if (!characters) std::printf("characters are counted otherwise after an allocation that failed\n");
    if (!types) std::printf("types have other categories after an allocation that failed\n");
    return characters && types ? 0 : 1;
}
