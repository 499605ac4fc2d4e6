// The hash tables, the flat one against std::map: growth, keys with equal hashes, hashes that are keys, memory that is used again.
#include "base/flat_table.h"

#include <cstdio>
#include <map>
#include <string>

#include "base/fixed_table.h"
#include "base/text_notes.h"
#include "base/text_table.h"

namespace {

using namespace tesla;

int failures = 0;
void expect(bool holds, const char* what) {
    if (!holds) std::printf("%s\n", what);
    failures += !holds;
}

// Texts, `alike` of which have one hash.
void test_texts(std::uint32_t alike) {
    std::map<std::string, std::uint32_t> wanted;
    std::vector<std::string> keys;
    FlatTable<> table;
    const auto hash_of = [&](std::uint32_t i) { return i / alike; };
    for (std::uint32_t i = 0; i < 3000; ++i) {
        const std::string key = "key " + std::to_string(i);
        const auto is_key = [&](std::uint32_t number) { return keys[number] == key; };
        expect(table.find(hash_of(i), is_key) == FlatTable<>::kMissing, "found before it was added");
        expect(table.find_or_add(hash_of(i), i, is_key) == i, "not added");
        keys.push_back(key);
        wanted[key] = i;
        expect(table.find_or_add(hash_of(i), 7777, is_key) == i, "added twice");
    }
    for (const auto& entry : wanted) {
        const auto is_key = [&](std::uint32_t number) { return keys[number] == entry.first; };
        expect(table.find(hash_of(entry.second), is_key) == entry.second, "lost while the table grew");
    }
    expect(table.size() == wanted.size(), "wrong size");
}

void test_hashes_as_keys() {
    FlatTable<0> table;
    expect(table.find(0) == 0 && table.find(5) == 0, "found in an empty table");
    for (std::uint32_t i = 1; i < 5000; ++i) table.add(i * 64, i);  // all with equal lowest bits
    for (std::uint32_t i = 0; i < 5010; ++i) expect(table.find(i * 64) == (i < 5000 ? i : 0), "wrong value");
    table.renumber(64, 2);
    expect(table.find(64) == 2, "a value cannot be changed");
}

void test_fixed_table() {
    FixedTable table;
    expect(table.find(0) == 0 && table.find(5) == 0, "found in an empty table");
    std::vector<std::uint32_t> keys, values;
    for (std::uint32_t i = 1; i < 5000; ++i) {
        keys.push_back(i * 64);  // all with equal lowest bits
        values.push_back(i % 10);  // 0 is as good as not there
    }
    table.build(keys, values);
    for (std::uint32_t i = 0; i < 5010; ++i) expect(table.find(i * 64) == (i < 5000 ? i % 10 : 0), "wrong value");
    for (std::uint32_t i = 0; i < 5000; ++i) expect(table.find(i * 64 + 7) == 0, "found where other keys lie");
    table.build({3, 4, 3}, {1, 2, 5});
    expect(table.find(3) == 1 && table.find(4) == 2 && table.find(64) == 0, "not the first value, or an old one");
}

// Blocks of all sizes are aligned and nobody else's, new ones and those that were given back.
void test_recycled_memory() {
    struct alignas(64) Line {
        std::uint64_t numbers[8];
    };
    using Lines = std::vector<Line, Recycled<Line>>;
    std::vector<Lines> kept(23);
    for (std::size_t round = 0; round < 200; ++round) {
        const std::size_t count = 1 + round * round * 37 % 200'000;  // up to 12 MB: on the heap, parts of pages, whole pages
        Lines& lines = kept[round % kept.size()];
        for (const Line& line : lines) expect(line.numbers[0] == lines.size() && line.numbers[7] == lines.size(), "overwritten");
        lines = Lines(count);
        expect(reinterpret_cast<std::uintptr_t>(lines.data()) % alignof(Line) == 0, "not aligned");
        for (Line& line : lines) line.numbers[0] = line.numbers[7] = count;
        lines.shrink_to_fit();
    }
    Lines none;
    none.reserve(0);
}

void test_first_met() {
    FirstMet numbers;
    for (std::size_t size : {200, 3, 0, 1000}) {
        numbers.reset(size);
        for (std::uint64_t i = 0; i < size; ++i) {
            const std::uint64_t key = i % 70 * 0x100000001;
            expect(numbers.number_of(key) == i % 70, "not numbered in the order in which keys are met");
        }
        expect(numbers.keys().size() == std::min<std::size_t>(size, 70), "wrong number of keys");
    }
}

void test_text_table() {
    TextTable<double> table;
    const std::string text = "one two one";
    const std::string_view words(text);
    expect(table.add(words.substr(0, 3), 1).second && table.add(words.substr(4, 3), 2).second, "not new");
    expect(!table.add(words.substr(8, 3), 3).second, "an equal text is not known");
    expect(*table.find("one") == 1 && *table.find("two") == 2 && table.find("three") == nullptr, "wrong value");
    std::vector<std::string_view> asked;
    for (int k = 0; k < 50; ++k) asked.push_back(k % 3 == 0 ? "one" : k % 3 == 1 ? "two" : "three");
    std::size_t told = 0;
    table.find_all(asked, [&](std::size_t k, const double* value) {
        expect(k == told++ && value == table.find(asked[k]), "not the same as one by one");
    });
    expect(told == asked.size(), "a text is left out");
}

// Texts as long as keys hold whole, and longer ones: each differs from others in its length or in one byte.
void test_texts_of_all_lengths() {
    std::vector<std::string> texts;
    for (std::size_t length = 0; length <= 40; ++length) {
        const std::string text(length, 'x');
        texts.push_back(text);
        for (std::size_t at = 0; at < length; ++at)
            for (char other : {'y', '\0', '\xff'}) texts.push_back(text.substr(0, at) + other + text.substr(at + 1));
    }
    TextTable<std::size_t> table;
    for (std::size_t k = 0; k < texts.size(); ++k) expect(table.add(texts[k], k).second, "an equal text that is none");
    for (std::size_t k = 0; k < texts.size(); ++k) {
        const std::string elsewhere = texts[k];
        const std::size_t* const value = table.find(elsewhere);
        expect(value && *value == k, "not found, or another text");
        expect(table.find(elsewhere + 'z') == nullptr, "a longer text is found");
        expect(TextKey(texts[k]) == TextKey(elsewhere), "equal keys differ");
        for (std::size_t other = 0; other < k; ++other) expect(!(TextKey(texts[other]) == TextKey(texts[k])), "different keys are equal");
    }
}

void test_text_notes() {
    TextNotes notes(1 << 12);
    std::vector<std::string> texts{"", "a", "seven77", "eight888", "nine99999", std::string(300, 'x'), std::string(3, '\0')};
    for (const std::string& text : texts) notes.add(text);
    int mistaken = 0;
    for (const std::string& text : texts) {
        expect(notes.may_have(text), "a text is not noted");
        for (const char* more : {"", "1", "23456789"})
            expect(notes.may_have(TextNotes::first_bytes(text + more), text.size()), "a beginning is not noted");
        mistaken += notes.may_have(text + "?");
    }
    expect(mistaken < 3, "texts are noted that were not added");
}

void test_noted_texts() {
    NotedTexts<std::string> table(1 << 12);
    expect(table.empty() && table.find("a") == nullptr, "found in an empty table");
    for (std::size_t length = 0; length <= 40; ++length)
        for (const char* value : {"first", "last"}) table.set(std::string(length, 'x'), value);
    const NotedTexts<std::string> moved = std::move(table);
    for (std::size_t length = 0; length <= 40; ++length) {
        const std::string* value = moved.find(std::string(length, 'x'));
        expect(value && *value == "last", "not found, or not the last value");
        expect(moved.find(std::string(length, 'x') + "y") == nullptr, "a text is found that was not added");
    }
}

}  // namespace

int main() {
    for (std::uint32_t alike : {1, 2, 50}) test_texts(alike);
    test_hashes_as_keys();
    test_fixed_table();
    test_recycled_memory();
    test_first_met();
    test_text_table();
    test_texts_of_all_lengths();
    test_text_notes();
    test_noted_texts();
    return failures != 0;
}
