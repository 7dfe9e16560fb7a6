/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "image_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hold.h"

enum { CUTS = 16, FLIPS = 240, MOST = 400, PAGE = 4096, ALIGNMENT = 16 };
enum { STRIDE = 101 }; /* no divisor of FLIPS: places all over from the first,
                          however many there is time for */

static struct image images[MOST];
static int images_count;

static struct image *add(const char *kind, const void *bytes, size_t size)
{
    struct image *image = &images[images_count++];

    if (images_count > MOST)
        exit(99);
    *image = (struct image){.kind = kind, .bytes = bytes, .size = size};
    return image;
}

/* A cubin runs on its own chip and, unless it is for that one only, on later
 * ones of the generation. */
static enum image_fate fate_of(const char *arch, const struct facts *facts)
{
    int number = atoi(arch + 3);
    bool own = number == 10 * facts->major + facts->minor;
    bool same = number / 10 == facts->major && number % 10 <= facts->minor;

    return own || (same && arch[strlen(arch) - 1] != 'a') ? IMAGE_RUNS
                                                          : IMAGE_REFUSED;
}

static void add_cubins(const struct facts *facts)
{
    static const char *const archs[] = {"sm_80",  "sm_89",   "sm_90",
                                        "sm_90a", "sm_100a", "sm_120"};

    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        size_t size;
        void *cubin = hold_cubin(archs[i], &size);

        if (cubin)
            add(archs[i], cubin, size)->fate = fate_of(archs[i], facts);
        else
            printf("NVRTC knows no %s\n", archs[i]);
    }
}

static void add_others(void)
{
    static const char version[] =
        ".version 99.9\n.target sm_80\n.address_size 64\n"
        ".visible .entry hold() { ret; }\n";
    static const char target[] =
        ".version 9.0\n.target sm_199\n.address_size 64\n"
        ".visible .entry hold() { ret; }\n";
    enum { HOST = 1 << 26 };
    unsigned char *host = malloc(HOST);
    FILE *self = fopen("/proc/self/exe", "rb");

    add("PTX 99.9", version, sizeof version);
    add("PTX for sm_199", target, sizeof target);
    if (!host || !self)
        exit(99);
    add("this program", host, fread(host, 1, HOST, self));
    fclose(self);
}

static void add_scraps(const unsigned char *cubin)
{
    static const unsigned char zeros[PAGE], noise[] = {0x93, 0x1c, 0xe7, 0x55};

    add("empty", zeros, 0);
    add("4 bytes", noise, 4);
    add("4 bytes, zeros", noise, 4)->padded = true;
    add("4 KB of zeros", zeros, sizeof zeros);
    add("ELF magic", cubin, 4);
    add("ELF magic, zeros", cubin, 4)->padded = true;
    add("ELF header", cubin, 64);
    add("ELF header, zeros", cubin, 64)->padded = true;
}

static void add_damaged(const unsigned char *cubin, size_t size)
{
    for (size_t i = 1; i <= CUTS; i++) {
        size_t cut = size * i / (CUTS + 1) / ALIGNMENT * ALIGNMENT;

        add("cut", cubin, cut);
        add("cut, zeros", cubin, cut)->padded = true;
    }
    for (size_t i = 0; i < FLIPS; i++)
        add("a byte flipped", cubin, size)->flipped =
            1 + i * STRIDE % FLIPS * (size - 1) / FLIPS;
}

const struct image *image_list(const struct facts *facts, bool damaged,
                               int *count)
{
    char arch[16];
    size_t size;
    const unsigned char *cubin;
    int first;

    snprintf(arch, sizeof arch, "sm_%d%d", facts->major, facts->minor);
    cubin = hold_cubin(arch, &size);
    add("its own", cubin, size)->fate = IMAGE_RUNS;
    add_cubins(facts);
    add_others();
    first = images_count;
    if (damaged)
        add_scraps(cubin);
    /* The emulated device takes names in an image to the host's compiler. */
    if (damaged && !facts->emulated)
        add_damaged(cubin, size);
    for (int i = first; i < images_count; i++)
        images[i].damaged = true;
    *count = images_count;
    return images;
}

/* Against the end of the last page that may be read. */
const void *image_place(const struct image *image)
{
    size_t padding = image->padded ? 16 * PAGE : 0;
    size_t bytes = (image->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t room = (bytes + padding + PAGE - 1) / PAGE * PAGE;
    unsigned char *memory = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *begin = memory + room - padding - bytes;

    if (memory == MAP_FAILED || mprotect(memory + room, PAGE, PROT_NONE))
        exit(99);
    memcpy(begin, image->bytes, image->size);
    if (image->flipped)
        begin[image->flipped] ^= 0xff;
    return begin;
}
