/* SPDX-License-Identifier: MIT */
/* JSON as jitgemm-warm reads it: what is good, or where it is bad. */
#include <string.h>

#include "json_read.h"
#include "test.h"

static void test_good(void)
{
    static const char *const texts[] = {
        "0", " -12.50e+7 ", "\t{ }\r\n", "[]", "[[],{},null,true,false]",
        "{\"a\":{\"b\":[1,2,{\"c\":\"\"}]},\"a\":0}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00aF \xC3\xA9 \xF0\x9F\x98\x80\x7f\"",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
        "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *at;

        CHECK(!json_check(texts[i], strlen(texts[i]), &at));
        CHECK(at == texts[i] + strlen(texts[i]));
    }
}

static void test_bad(void)
{
    static const struct {
        const char *text, *rule;
        int at;
    } bad[] = {
        {"", "expected a value", 0},
        {" ", "expected a value", 1},
        {"nul", "expected a value", 0},
        {"nulls", "expected the end", 4},
        {"1 2", "expected the end", 2},
        {"01", "expected the end", 1},
        {"+1", "expected a value", 0},
        {"-", "expected a digit", 1},
        {"1.", "expected a digit", 2},
        {".5", "expected a value", 0},
        {"1e", "expected a digit", 2},
        {"1e+", "expected a digit", 3},
        {"[1,]", "expected a value", 3},
        {"[1 2]", "expected \",\" or \"]\"", 3},
        {"[1", "expected \",\" or \"]\"", 2},
        {"[1}", "expected \",\" or \"]\"", 2},
        {"{\"a\":1,}", "expected a string", 7},
        {"{\"a\":1", "expected \",\" or \"}\"", 6},
        {"{\"a\" 1}", "expected \":\"", 5},
        {"{\"a\":}", "expected a value", 5},
        {"{a:1}", "expected a string", 1},
        {"{'a':1}", "expected a string", 1},
        {"{1:1}", "expected a string", 1},
        {"\"a", "a string without an end, or with a control character", 2},
        {"\"\n\"", "a string without an end, or with a control character",
         1},
        {"\"\\x\"", "no such escape", 1},
        {"\"\\u12g4\"", "no such escape", 1},
        {"\"\\", "no such escape", 1},
        {"\"\xC0\xAF\"", "not UTF-8", 1},
        {"\"\xED\xA0\x80\"", "not UTF-8", 1},
        {"\"\xE2\x82", "not UTF-8", 1},
        {"\xEF\xBB\xBF{}", "expected a value", 0},
        {"{} // none", "expected the end", 3},
        {"NaN", "expected a value", 0},
        {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
         "nested more than 64 deep", 64},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at;

        CHECK_STR(json_check(bad[i].text, strlen(bad[i].text), &at),
                  bad[i].rule);
        CHECK_INT(at - bad[i].text, bad[i].at);
    }
}

/* A NUL is no end of the text. */
static void test_nul(void)
{
    static const char text[] = "{}\0{}";
    const char *at;

    CHECK_STR(json_check(text, sizeof text - 1, &at), "expected the end");
    CHECK_INT(at - text, 2);
}

static void test_member(void)
{
    static const char text[] = "{ \"b\" : {\"a\":1} , \"aa\":2,\"\":[3,4],"
                               "\"c\":null,\"a\" : 5 ,\"d\":6,\"d\":7}";
    const char *value, *at;

    CHECK(!json_member(text, "a", &value, &at));
    CHECK(value && *value == '5');
    CHECK(!json_member(text, "b", &value, &at));
    CHECK(value && *value == '{');
    CHECK(!json_member(text, "", &value, &at));
    CHECK(value && *value == '[');
    CHECK(!json_member(text, "c", &value, &at));
    CHECK(value == NULL);
    CHECK(!json_member(text, "e", &value, &at));
    CHECK(value == NULL);
    CHECK_STR(json_member(text, "d", &value, &at),
              "the name was there before");
    CHECK_STR(at, "\"d\":7}");
    CHECK_STR(json_member("[1]", "a", &value, &at), "expected an object");
    CHECK(!json_member("{}", "a", &value, &at));
    CHECK(value == NULL);
}

static void test_count(void)
{
    static const char *const bad[] = {
        "0", "-1", "1.0", "1e3", "1E3", "2147483648", "\"1\"", "true", "[1]",
        "99999999999999999999",
    };
    const char *at;
    int64_t number;

    CHECK(!json_count("2147483647,", &number, &at));
    CHECK_INT(number, 2147483647);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STR(json_count(bad[i], &number, &at),
                  "expected a whole number from 1 to 2147483647");
        CHECK(at == bad[i]);
    }
}

int main(void)
{
    test_good();
    test_bad();
    test_nul();
    test_member();
    test_count();
    return test_end();
}
