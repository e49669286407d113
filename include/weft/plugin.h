/* The binary boundary between weft and a provider: plain C structs and versioned tables of functions.
 *
 * Built-in providers and vendor plug-ins implement the same tables; a call of the C++ API goes through exactly
 * one of these function pointers, straight into the provider. C++ providers let <weft/spi/tables.hpp> make the
 * tables from their classes; a C provider fills them by hand.
 *
 * Compatibility: every table starts with its own size. Members are only ever appended; a caller looks at the
 * size before it uses a member newer than version 1. WEFT_SPI_VERSION changes only if that is not enough, and
 * then plug-ins with another number are reported once and skipped.
 *
 * Status codes are the numbers of weft::errc (0 is success, 1 is "try again: nothing was started").
 */
#ifndef WEFT_PLUGIN_H
#define WEFT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_SPI_VERSION 1u
#define WEFT_PLUGIN_MAGIC 0x57454654u /* "WEFT" */
#define WEFT_ANY_PEER UINT64_MAX

typedef int32_t weft_status;

/* A cold call's failure. The provider fills code and text (a sentence for a human, NUL-terminated). */
struct weft_failure {
    int32_t code;
    int32_t native; /* errno or the provider's own number, 0 when there is none */
    char text[1016];
};

/* One piece of memory; same layout as weft::basic_buffer. */
struct weft_piece {
    void* data;
    size_t size;
    void* descriptor;
};

/* Flags of the general calls (sendmsg, recvmsg, ...). What an endpoint does not support is answered with
 * not_supported; a flag is never ignored. */
#define WEFT_QUIET (1u << 0)       /* no completion on success */
#define WEFT_REMOTE_DATA (1u << 1) /* `data` travels with the message */
#define WEFT_INJECT (1u << 2)      /* the buffers may be reused when the call returns */
#define WEFT_TRANSMITTED (1u << 3) /* complete when the message is on its way and the buffers are free */
#define WEFT_DELIVERED (1u << 4)   /* complete when the receiver has the message in its buffer */
#define WEFT_PEEK (1u << 5)        /* receive: look at the earliest matching unexpected message, leave it */
#define WEFT_CLAIM (1u << 6)       /* receive: with PEEK reserve the message, without it take the reserved one */
#define WEFT_DISCARD (1u << 7)     /* receive: drop the message */
#define WEFT_MULTI_RECV (1u << 8)  /* receive: many messages into one buffer */

/* A message of the general calls. `tag` and `ignore` matter to the tagged family only. */
struct weft_message {
    const struct weft_piece* pieces;
    size_t count;
    uint64_t peer; /* send: destination; receive: source or WEFT_ANY_PEER */
    uint64_t tag;
    uint64_t ignore;
    uint64_t data;
    void* context;
};

/* How an endpoint reaches a peer. For WEFT_ANY_PEER only `local` and the thresholds are filled in. */
struct weft_path {
    size_t size;
    char local[64];      /* address text */
    char remote[64];     /* address text */
    char state[24];      /* "connected", "connecting", "idle", "refused", "gone" */
    char mechanism[32];  /* how large messages are copied: "pipelined copy", "cross-memory attach", ... */
    uint64_t inline_max; /* bytes: up to here a message travels in one packet */
    uint64_t eager_max;  /* bytes: up to here it is buffered; above, rendezvous */
};

/* ---- endpoint: the data path ------------------------------------------------------------------------- */

struct weft_endpoint;
struct weft_endpoint_ops {
    size_t size;

    weft_status (*send)(struct weft_endpoint*, const void* data, size_t size, void* descriptor, uint64_t peer,
                        void* context);
    weft_status (*send_quiet)(struct weft_endpoint*, const void* data, size_t size, void* descriptor, uint64_t peer);
    weft_status (*inject)(struct weft_endpoint*, const void* data, size_t size, uint64_t peer);
    weft_status (*sendv)(struct weft_endpoint*, const struct weft_piece*, size_t count, uint64_t peer, void* context);
    weft_status (*sendmsg)(struct weft_endpoint*, const struct weft_message*, uint32_t flags);
    weft_status (*recv)(struct weft_endpoint*, void* data, size_t size, void* descriptor, uint64_t peer, void* context);
    weft_status (*recvv)(struct weft_endpoint*, const struct weft_piece*, size_t count, uint64_t peer, void* context);
    weft_status (*recvmsg)(struct weft_endpoint*, const struct weft_message*, uint32_t flags);

    weft_status (*tsend)(struct weft_endpoint*, const void* data, size_t size, void* descriptor, uint64_t peer,
                         uint64_t tag, void* context);
    weft_status (*tsend_quiet)(struct weft_endpoint*, const void* data, size_t size, void* descriptor, uint64_t peer,
                               uint64_t tag);
    weft_status (*tinject)(struct weft_endpoint*, const void* data, size_t size, uint64_t peer, uint64_t tag);
    weft_status (*tsendv)(struct weft_endpoint*, const struct weft_piece*, size_t count, uint64_t peer, uint64_t tag,
                          void* context);
    weft_status (*tsendmsg)(struct weft_endpoint*, const struct weft_message*, uint32_t flags);
    weft_status (*trecv)(struct weft_endpoint*, void* data, size_t size, void* descriptor, uint64_t peer, uint64_t tag,
                         uint64_t ignore, void* context);
    weft_status (*trecvv)(struct weft_endpoint*, const struct weft_piece*, size_t count, uint64_t peer, uint64_t tag,
                          uint64_t ignore, void* context);
    weft_status (*trecvmsg)(struct weft_endpoint*, const struct weft_message*, uint32_t flags);

    /* Cold. cancel: ends the receives posted with this context; each completes once, with canceled. */
    weft_status (*cancel)(struct weft_endpoint*, void* context);
    weft_status (*address)(struct weft_endpoint*, void* bytes, size_t* size); /* size: in room, out needed */
    /* With WEFT_ANY_PEER only the endpoint's own side: `local` and the thresholds, `remote` and `state` empty. */
    weft_status (*path)(struct weft_endpoint*, uint64_t peer, struct weft_path*, struct weft_failure*);
    /* Cancels what is pending and returns when no buffer is touched any more. Further calls answer closed. */
    weft_status (*close)(struct weft_endpoint*);
    /* Closes if need be and gives the object back. */
    void (*release)(struct weft_endpoint*);
};
struct weft_endpoint {
    const struct weft_endpoint_ops* ops;
};

/* ---- completion queue -------------------------------------------------------------------------------- */

enum weft_entry_format { WEFT_ENTRY_TOKENS = 0, WEFT_ENTRY_MESSAGE = 1, WEFT_ENTRY_TAGGED = 2 };

struct weft_queue;
struct weft_queue_ops {
    size_t size;
    /* Writes up to `room` entries of the queue's format, drives progress of the endpoints bound to it. */
    size_t (*poll)(struct weft_queue*, void* entries, size_t room);
    void (*release)(struct weft_queue*); /* endpoints bound to the queue keep what they need of it */
};
struct weft_queue {
    const struct weft_queue_ops* ops;
};

/* ---- needs, offers, refusals ------------------------------------------------------------------------- */

struct weft_needs {
    size_t size;
    uint32_t capabilities; /* bits of weft::capset */
    uint8_t reliable;
    uint8_t ordered;
    uint8_t any_thread;
    uint8_t autonomous;
    uint8_t remote_data;
    uint8_t wait_fd;
    uint64_t message_size_min;
    uint64_t inject_size_min;
    uint64_t posted_receives_min;
    uint64_t iov_count_min;
};

struct weft_offer {
    size_t size;
    const char* provider; /* all strings: valid during the call that passes the offer */
    const char* device;
    const char* reach; /* "this host", "network 10.0.0.0/8", ... */
    const char* why;   /* one clause: why this rank */
    uint32_t capabilities;
    int32_t rank;        /* lower is better: 0 same host, 100 hardware, 200 kernel sockets */
    uint64_t inline_max; /* thresholds: see weft_path */
    uint64_t eager_max;
    uint64_t message_size_max;
    uint64_t inject_size_max;
    uint64_t posted_receives_max;
    uint64_t iov_count_max;
    const char* details; /* "name=value" pairs separated by newlines, for `weft info -v` */
};

struct weft_refusal {
    size_t size;
    const char* provider;
    const char* device;   /* "" when the provider as a whole refuses */
    const char* property; /* the first requirement that was not met */
    const char* wanted;
    const char* offered;
    const char* remedy; /* what to change, one sentence */
};

struct weft_sink { /* the core's side of a probe */
    void (*offer)(struct weft_sink*, const struct weft_offer*);
    void (*refuse)(struct weft_sink*, const struct weft_refusal*);
};

/* ---- domain and provider ----------------------------------------------------------------------------- */

struct weft_queue_params {
    size_t size;
    uint32_t format;     /* enum weft_entry_format */
    uint32_t any_thread; /* several threads poll, or call endpoints bound to it */
    uint64_t depth;      /* completions that can wait unread before posting answers "try again" */
};

struct weft_domain;
struct weft_domain_ops {
    size_t size;
    struct weft_queue* (*open_queue)(struct weft_domain*, const struct weft_queue_params*, struct weft_failure*);
    /* Room an endpoint object for these needs takes, so that a C face can place it in its own allocation. */
    size_t (*endpoint_size)(struct weft_domain*, const struct weft_needs*, size_t* alignment);
    /* `storage` null: the provider allocates. Otherwise the object is made there, and `release` ends its life
     * without freeing the memory. `face`, when not null, receives the C-face tables compiled for the object (see
     * weft/spi/face.hpp), or null if the provider has none. */
    struct weft_endpoint* (*open_endpoint)(struct weft_domain*, const struct weft_needs*, struct weft_queue*,
                                           void* storage, const void** face, struct weft_failure*);
    /* Enters an address into the domain's address vector; the same address gives the same peer. No contact is
     * made. */
    weft_status (*resolve)(struct weft_domain*, const char* text, size_t length, uint64_t* peer, struct weft_failure*);
    weft_status (*insert)(struct weft_domain*, const void* bytes, size_t size, uint64_t* peer, struct weft_failure*);
    /* Text of a peer's address, NUL-terminated; answers invalid_argument for a number never given out. */
    weft_status (*peer_text)(struct weft_domain*, uint64_t peer, char* text, size_t room);
    void (*release)(struct weft_domain*); /* queues and endpoints keep what they need of it */
};
struct weft_domain {
    const struct weft_domain_ops* ops;
};

/* What the core lends to a provider. Valid as long as the domains opened with it. */
struct weft_host;
struct weft_host_ops {
    size_t size;
    /* level: 0 error, 1 warning, 2 info, 3 debug. `enabled` first, so that text is only made when wanted. */
    int (*log_enabled)(struct weft_host*, int level, const char* subsystem);
    void (*log)(struct weft_host*, int level, const char* subsystem, const char* text);
    /* Value of a setting in text form ("16384"), never null for a setting the provider declared; null for an
     * unknown one. The string lives as long as the host. */
    const char* (*setting)(struct weft_host*, const char* name);
    void (*retain)(struct weft_host*);
    void (*release)(struct weft_host*);
};
struct weft_host {
    const struct weft_host_ops* ops;
};

enum weft_setting_type {
    WEFT_SETTING_TEXT = 0,
    WEFT_SETTING_SIZE = 1,
    WEFT_SETTING_CHOICE = 2,
    WEFT_SETTING_COUNT = 3
};

struct weft_setting {
    const char* name; /* "shm_eager_max": WEFT_SHM_EAGER_MAX in the environment, shm_eager_max in the file */
    uint32_t type;    /* enum weft_setting_type; SIZE takes suffixes K, M, G */
    const char* initial;
    const char* choices; /* CHOICE: "auto|pipeline|cma"; SIZE and COUNT: "MIN..MAX"; TEXT: "" */
    const char* text;    /* one sentence */
};

struct weft_provider;
struct weft_provider_ops {
    size_t size;
    /* Calls sink->offer for each way of meeting the needs and sink->refuse for each that does not. No side
     * effects: no thread, file, socket or descriptor is left, nothing is allocated that stays. */
    void (*probe)(struct weft_provider*, struct weft_host*, const struct weft_needs*, struct weft_sink*);
    struct weft_domain* (*open_domain)(struct weft_provider*, struct weft_host*, const char* device,
                                       const struct weft_needs*, struct weft_failure*);
};
struct weft_provider {
    const struct weft_provider_ops* ops;
    const char* name;   /* "shm"; also the scheme of its addresses */
    const char* text;   /* one line for people */
    const struct weft_setting* settings;
    size_t setting_count;
};

/* ---- the entry point of a plug-in -------------------------------------------------------------------- */

struct weft_plugin {
    uint32_t magic;       /* WEFT_PLUGIN_MAGIC */
    uint32_t spi_version; /* WEFT_SPI_VERSION the plug-in was compiled with */
    const char* name;     /* of the plug-in, for messages */
    const char* version;  /* of the plug-in, for messages */
    struct weft_provider* const* providers;
    size_t provider_count;
};

/* A plug-in is a shared library `lib<name>-weft.so` that exports exactly this function. It is called once per
 * fabric, must not fail, and returns a pointer to static storage. */
const struct weft_plugin* weft_plugin_entry(void);
typedef const struct weft_plugin* (*weft_plugin_entry_function)(void); /* NOLINT(modernize-redundant-void-arg): C */

#ifdef __cplusplus
}
#endif
#endif
