/* Plug-ins that are wrong in one way each, chosen by the macro BAD. In C, which also shows that <weft/plugin.h> is
 * a C header. BAD_NAME is the provider's name. */
#include <weft/plugin.h>

#define NO_ENTRY 1
#define WRONG_MAGIC 2
#define WRONG_VERSION 3
#define NULL_PLUGIN 4
#define TRUNCATED_TABLE 5
#define GOOD 6 /* as such; bad when the name is taken */
#define NO_PROVIDERS 7
#define NULL_PROVIDER 8
#define NULL_FUNCTION 9
#define BAD_SETTING 10
#define UNDEFINED_SYMBOL 11
#define NEWER_TABLE 12 /* good: longer than this release knows */

#ifndef BAD_NAME
#define BAD_NAME "bad"
#endif

#if BAD == UNDEFINED_SYMBOL
void weft_test_nobody_defines_this(void);
#endif

static void probe(struct weft_provider* self, struct weft_host* host, const struct weft_needs* needs,
                  struct weft_sink* sink) {
    struct weft_refusal r = {sizeof r, BAD_NAME, "", "anything", "something", "nothing", "take another provider"};
    (void)self;
    (void)host;
    (void)needs;
    sink->refuse(sink, &r);
#if BAD == UNDEFINED_SYMBOL
    weft_test_nobody_defines_this();
#endif
}

static struct weft_domain* open_domain(struct weft_provider* self, struct weft_host* host, const char* device,
                                       const struct weft_needs* needs, struct weft_failure* why) {
    (void)self;
    (void)host;
    (void)device;
    (void)needs;
    why->code = 6;
    return NULL;
}

#if BAD == TRUNCATED_TABLE
static const struct weft_provider_ops table = {offsetof(struct weft_provider_ops, open_domain), probe, open_domain};
#elif BAD == NULL_FUNCTION
static const struct weft_provider_ops table = {sizeof table, probe, NULL};
#elif BAD == NEWER_TABLE
static const struct {
    struct weft_provider_ops known;
    void (*added_later)(void);
} newer = {{sizeof newer, probe, open_domain}, NULL};
#define table newer.known
#else
static const struct weft_provider_ops table = {sizeof table, probe, open_domain};
#endif

#if BAD == BAD_SETTING
static const struct weft_setting settings[] = {{"bad_size", WEFT_SETTING_SIZE, "1K", "4K..8K", "Out of its range."}};
static struct weft_provider provider = {&table, BAD_NAME, "bad", settings, 1};
#else
static struct weft_provider provider = {&table, BAD_NAME, "bad", NULL, 0};
#endif

#if BAD == NULL_PROVIDER
static struct weft_provider* const providers[] = {NULL, &provider}; /* only the first is counted */
#else
static struct weft_provider* const providers[] = {&provider};
#endif

static const struct weft_plugin plugin = {
#if BAD == WRONG_MAGIC
    0x12345678u,
#else
    WEFT_PLUGIN_MAGIC,
#endif
#if BAD == WRONG_VERSION
    WEFT_SPI_VERSION + 1,
#else
    WEFT_SPI_VERSION,
#endif
    "bad",
    "1.0",
    providers,
#if BAD == NO_PROVIDERS
    0,
#else
    1,
#endif
};

#if BAD == NO_ENTRY
#define ENTRY weft_plugin_entrance
#else
#define ENTRY weft_plugin_entry
#endif

__attribute__((visibility("default"))) const struct weft_plugin* ENTRY(void);
const struct weft_plugin* ENTRY(void) {
    (void)open_domain; /* one variant has it nowhere else */
#if BAD == NULL_PLUGIN
    (void)plugin;
    return NULL;
#else
    return &plugin;
#endif
}
