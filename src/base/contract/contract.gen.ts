// Written by openapi/generate.mjs from openapi/openapi.yaml.

export const apiVersion = '1.0.0';

export interface paths {
    "/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List subscriptions
         * @description Lists subscriptions with their status, oldest first (Subscriptions API, section 3.2.5.3). A consumer
         *     (`assent:subscribe`) sees its own. An admin (`assent:admin`) sees those of the tenant. Query parameters combine with
         *     AND, and match exactly unless they say otherwise. The list leaves out `warnings`; read a single subscription to get
         *     them.
         *
         *     A request examines at most 100,000 subscriptions, or 20,000 if you ask for a `status` or `reason`. If few match, a
         *     page can have fewer entries than `limit`, or none: continue until there is no `Link`.
         */
        get: operations["getSubscriptions"];
        put?: never;
        /**
         * Register a subscription
         * @description Stores a subscription and asks its webhook for consent (Subscriptions API, section 3.2.5.1; webhook specification,
         *     section 4.1). For consumers (`assent:subscribe`); an admin (`assent:admin`) can do it too.
         *
         *     The response waits for the handshake as long as `Prefer` says, 5 seconds by default. It is 201 with the current
         *     status, whatever the webhook returned. Read `status` and `statusdetails` to see the outcome. The handshake
         *     continues in the background, also if the service restarts. With `suspended: true` there is no handshake until you
         *     resume the subscription.
         *
         *     Errors: `invalid_subscription` (400) lists every fault with its place, for example `origin_missing` if the tenant
         *     has no default origin. `quota_exceeded` and `filters_too_expensive` (403) name a limit.
         *     `subscription_not_allowed` (403) names what the rules of the origin allow you. An `Idempotency-Key` of
         *     another request returns `idempotency_key_reused` (409).
         */
        post: operations["createSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscriptions/{id}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        /**
         * Read a subscription
         * @description Returns a subscription with its status, why it has that status, and what happens next (Subscriptions API, section
         *     3.2.5.2). For the consumer that registered it (`assent:subscribe`) and for admins (`assent:admin`). Secrets of
         *     `sinkcredential` are never returned.
         */
        get: operations["getSubscription"];
        /**
         * Replace a subscription
         * @description Replaces all members (Subscriptions API, section 3.2.5.4). For the consumer that registered it
         *     (`assent:subscribe`) and for admins (`assent:admin`). Send back what you read: members that only Assent sets are
         *     ignored.
         *
         *     Another `sink`, `origin` or `requestedrate` starts a new handshake; other members change at once. A suspended
         *     subscription starts it when you resume it. A later `expiresat`, or none, extends a subscription that has ended: it
         *     starts a handshake too if no grant is live. If `sinkcredential` has nothing but its type, the stored secret stays.
         *
         *     Errors: `subscription_not_allowed` (403) if the rules of the origin do not allow the result.
         */
        put: operations["updateSubscription"];
        post?: never;
        /**
         * Delete a subscription
         * @description Deletes a subscription and returns it as it was (Subscriptions API, section 3.2.5.5). For the consumer that
         *     registered it (`assent:subscribe`) and for admins (`assent:admin`). Deleting the last subscription of an origin to
         *     a sink also ends the grant, unless its basis is an agreement.
         */
        delete: operations["deleteSubscription"];
        options?: never;
        head?: never;
        /**
         * Change some members of a subscription
         * @description Applies a JSON merge patch (RFC 7396) and then works like PUT. For the consumer that registered it
         *     (`assent:subscribe`) and for admins (`assent:admin`). `null` removes a member. Use it to rotate a credential:
         *     with `overlapseconds`, senders also get the old one for a while.
         */
        patch: operations["patchSubscription"];
        trace?: never;
    };
    "/subscriptions/{id}/suspend": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suspend a subscription
         * @description Stops deliveries until the subscription is resumed. For the consumer that registered it (`assent:subscribe`) and
         *     for admins (`assent:admin`). Assent does not ask the webhook in the meantime: a handshake that is due waits. If an
         *     admin suspends it, only an admin can resume it.
         */
        post: operations["suspendSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscriptions/{id}/resume": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a subscription
         * @description Ends a suspension. For the consumer that registered it (`assent:subscribe`) and for admins (`assent:admin`). Assent
         *     asks the webhook if it never did, if the consent expired in the meantime, or if the sink, origin or requested rate
         *     changed. It does not ask for a subscription that has ended.
         *
         *     Errors: `suspended_by_admin` (403) if an admin suspended it and you are not an admin, `subscription_not_allowed` (403)
         *     if the rules of the origin no longer allow it.
         */
        post: operations["resumeSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscriptions/{id}/handshakes": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        /**
         * List the handshakes of a subscription
         * @description Shows what Assent asked the webhook and what came back, newest first and with every attempt (webhook specification,
         *     section 4). For the consumer that registered the subscription (`assent:subscribe`) and for admins
         *     (`assent:admin`). Only admins see the status code, address and timing of the webhook.
         */
        get: operations["getHandshakes"];
        put?: never;
        /**
         * Ask the webhook again
         * @description Starts another handshake, for example after the webhook owner fixed something (webhook specification, section
         *     4.1). For the consumer that registered the subscription (`assent:subscribe`) and for admins (`assent:admin`). The
         *     response waits for the outcome as long as `Prefer` says.
         *
         *     - If a handshake waits for its next attempt, Assent makes that attempt now and returns that handshake.
         *     - If the webhook sent `Retry-After`, Assent does not ask before that time. This applies to all subscriptions of
         *       the origin to the sink.
         *     - For a suspended subscription, the handshake waits until you resume it.
         *
         *     Errors: `grant_revoked` (409) if an admin revoked the grant. Only an admin can ask again then. `conflict` (409) if the
         *     subscription has ended.
         */
        post: operations["startHandshake"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscriptions/{id}/handshakes/{handshake}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
                /** @description The id of a handshake. */
                handshake: components["parameters"]["HandshakeId"];
            };
            cookie?: never;
        };
        /**
         * Read a handshake
         * @description Returns one handshake with every attempt, the verdict, and what the webhook owner can change (webhook
         *     specification, section 4). For the consumer that registered the subscription (`assent:subscribe`) and for admins
         *     (`assent:admin`).
         */
        get: operations["getHandshake"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscriptions/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        /**
         * See how deliveries to a subscription go
         * @description Returns what senders reported for the origin and sink of a subscription, and what to change if deliveries fail
         *     (webhook specification, section 2.2). For the consumer that registered it (`assent:subscribe`) and for admins
         *     (`assent:admin`). Other subscriptions with the same origin and sink share these counts. Only admins see the
         *     webhook's status code.
         */
        get: operations["getDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/filters/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a filter against an event
         * @description Returns whether an event matches a stored subscription, or members that you plan to register, and which part fails
         *     (Subscriptions API, section 3.2.4). For consumers (`assent:subscribe`) and admins (`assent:admin`). It stores
         *     nothing and ignores consent.
         */
        post: operations["testFilter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/callbacks/{handshake}": {
        parameters: {
            query: {
                /** @description The secret key of the callback URL. */
                key: string;
            };
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
                /**
                 * @description The origin that asked, or `*`. Absent means the same. If it names another origin, the call grants nothing
                 *     (webhook specification, section 4.2.1).
                 */
                "WebHook-Allowed-Origin"?: string;
                /**
                 * @description Requests per minute, or `*` (webhook specification, section 4.2.2). Absent means the requested rate, or the
                 *     origin's default rate if none was requested.
                 */
                "WebHook-Allowed-Rate"?: string;
            };
            path: {
                /** @description The id of a handshake. */
                handshake: components["parameters"]["HandshakeId"];
            };
            cookie?: never;
        };
        /**
         * Allow an origin by opening the callback URL
         * @description Gives consent (webhook specification, section 4.1.3). A webhook calls the URL in `WebHook-Request-Callback`, or its
         *     owner opens that URL. No token is needed: the URL contains a key.
         *
         *     - A program that calls it allows the origin.
         *     - A client that prefers `text/html`, such as a browser or a mail scanner, gets a page that shows who asks and for
         *       what. The page has a form to allow or to refuse. The GET itself changes nothing.
         *     - The first decision counts. A later call returns it and changes nothing.
         *
         *     Errors: `callback_rate_malformed` (400) changes nothing, so you can call again. `callback_unknown` (404) means that
         *     the URL is wrong, has expired, or belongs to a question that was closed. `conflict` (409) means that a browser
         *     fetched the URL ahead of time; nothing was decided.
         */
        get: operations["grantByGet"];
        put?: never;
        /**
         * Allow or refuse an origin by posting to the callback URL
         * @description Gives or refuses consent (webhook specification, section 4.1.3). It works like GET, and no token is needed. In
         *     addition, a form with `decision=allow` or `decision=refuse` counts from any client, so a program can refuse:
         *     `curl -d decision=refuse "$CALLBACK"`. Without a decision, a client that prefers `text/html` gets the page, and any
         *     other client allows the origin. A body of another media type is not read.
         *
         *     A refusal closes the question and its callback URL. If the question is a renewal, it also ends the grant that was
         *     to be renewed.
         */
        post: operations["grantByPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/match": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find the webhooks for an event
         * @description Returns the sinks that an event goes to, each once, with the ids of all subscriptions that match (Subscriptions API,
         *     section 3.2.4). For senders (`assent:deliver`) and admins (`assent:admin`). A consumer (`assent:subscribe`) can use
         *     it with `explain`, and sees no sinks. It changes nothing.
         *
         *     - Send the event in structured, batched or binary content mode (CloudEvents HTTP protocol binding, section 3).
         *     - Only context attributes count, so you can leave the data out.
         *     - The response contains only sinks that the origin may send to. A sink with `helduntil` must wait.
         *     - Sink credentials need the scope `assent:credentials`.
         *     - A message has at most 1 MiB, and a batch at most 100 events, unless the operator set other limits.
         *
         *     Errors: `invalid_event` (400) lists every MUST of the origin's profile that the event breaks. In a batch, only that
         *     event gets faults. `match_too_expensive` (422) means that the filters need too many steps for this message. It
         *     names the subscription that needs the most, and nothing was matched.
         */
        post: operations["matchEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check an event against a profile
         * @description Returns which rules of a profile an event breaks. For anyone with `assent:deliver`, `assent:subscribe` or
         *     `assent:admin`; useful in a build pipeline. Send the event in any content mode, alone or in a batch, as large as for
         *     a match. It matches nothing and stores nothing.
         */
        post: operations["validateEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether an origin may send to a sink
         * @description Returns whether an origin may send to a sink now, at which rate and until when (webhook specification, section 4).
         *     For senders (`assent:deliver`) and admins (`assent:admin`). It is fast: ask before each delivery. `allowed` says yes
         *     or no, and `reason` says why not. A no is a 200 as well, so gateways ask `/authorize` instead.
         *
         *     Errors: `invalid_request` (400) if `origin` is not the name of an origin, or `sink` is not a URL in canonical form.
         */
        get: operations["getPermission"];
        put?: never;
        /**
         * Check many pairs of origin and sink
         * @description Does the same as GET for up to 1,000 pairs (webhook specification, section 4). For senders (`assent:deliver`) and
         *     admins (`assent:admin`). It changes nothing. A pair that cannot exist has the reason `no_grant`.
         */
        post: operations["getPermissions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Let a gateway ask whether a delivery may pass
         * @description For the external authorization of nginx, Caddy, Traefik and Envoy (webhook specification, section 4): the gateway asks
         *     before it forwards a delivery, and any 2xx means yes. The token needs `assent:deliver`. The decision is that of
         *     `GET /permissions`, but here a no has a status that gateways understand.
         *
         *     OpenAPI cannot express all of it: the operation accepts **any method**, ignores the body, and also serves **any path
         *     below it**, such as `/v1/authorize/events?x=1`. There, the sink is `X-Forwarded-Proto` with `Host` and what follows
         *     `/v1/authorize`, as Envoy sends it, and a yes is 200 instead of 204, because Envoy takes only 200 for a yes.
         *
         *     The origin is in `WebHook-Request-Origin` or the query. The sink is in one of these places: `X-Original-URL`;
         *     `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Uri`; the path below; the query. If a request has several,
         *     they must agree. `:443` after the host of an `https` URL in a header is dropped. A sink must be canonical otherwise.
         *
         *     Errors: `not_permitted` (403) if the delivery may not pass or the request leaves a doubt; `rate_used_up` (429) if
         *     a lease was asked for; `invalid_request` (400) if the gateway's own settings are wrong.
         */
        get: operations["authorizeDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/access/v1/evaluation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide one access request of AuthZEN
         * @description The Access Evaluation API of the OpenID AuthZEN Authorization API 1.0 (section 6): may the subject, an `origin`,
         *     perform the action `deliver` on the resource, a `sink`? For senders (`assent:deliver`) and admins (`assent:admin`).
         *     The decision is that of `GET /permissions`. It changes nothing.
         *
         *     An unknown type or action is a `decision` of `false` with a `reason`. Unknown members and all `properties` are
         *     ignored. `/.well-known/authzen-configuration` names the address. The response has the `X-Request-ID` of the request.
         */
        post: operations["evaluateAccess"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/access/v1/evaluations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide many access requests of AuthZEN
         * @description The Access Evaluations API of the OpenID AuthZEN Authorization API 1.0 (section 7), for up to 1,000 requests. For
         *     senders (`assent:deliver`) and admins (`assent:admin`). `subject`, `action` and `resource` at the top are the
         *     defaults of every entry. An entry that lacks one of them is a `decision` of `false` with an `error`. Without
         *     `evaluations`, the response is that of `/access/v1/evaluation`.
         */
        post: operations["evaluateAccesses"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/leases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a share of a rate
         * @description Gives one instance of a sender a share of a rate: a number of requests that it may send within the next seconds.
         *     For senders (`assent:deliver`). A webhook allows a rate for the whole origin (webhook specification, section 4.2.2).
         *     All instances together never exceed it in any 60 seconds.
         *
         *     Return the requests that you don't send. Requests that you neither send nor return become free after a minute.
         *
         *     Errors: `not_permitted` (403) if the origin may not send to the sink.
         */
        post: operations["takeLease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/leases/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `lease` member of the response to `POST /leases`. */
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Return a lease
         * @description Returns the requests of a lease that you did not send, so that other instances can use them. For senders
         *     (`assent:deliver`). You can also return leases with the next `POST /leases`. It is safe to repeat.
         *
         *     Errors: `lease_not_found` (404) if there is no such lease, or it is too old.
         */
        delete: operations["returnLease"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deliveries/outcomes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report how deliveries ended
         * @description Reports up to 1,000 outcomes (webhook specification, section 2.2). For senders (`assent:deliver`). Assent accepts or
         *     rejects each entry on its own.
         *
         *     - 2xx ends a series of failures.
         *     - 410 retires the webhook after as many 410s in a row as the origin's `goneafter`. The grant ends, also if its
         *       basis is an agreement.
         *     - 429, and 503 with `Retry-After`, put the grant on hold. Every sender then waits.
         *     - Everything else is counted, and the consumer sees it with advice.
         */
        post: operations["reportOutcomes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/snapshot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Copy everything as of one moment
         * @description Returns every origin, subscription and grant of the tenant as of one moment, as JSON lines. For senders
         *     (`assent:deliver`) and admins (`assent:admin`). The last line (`kind: end`) has the cursor to follow with
         *     `GET /changes?after=`. **A stream without that line is incomplete:** take another snapshot.
         *
         *     Subscriptions and grants in every state are included. Deliver to a subscription if its origin is not blocked, it is not suspended, and the
         *     grant of its origin and sink is live and has not expired. The first line arrives after everything was read, which
         *     may take two minutes. A client that stops reading for a while is disconnected.
         */
        get: operations["getSnapshot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the changes
         * @description Returns the changes after a cursor: complete, in order, and the same for every reader. For senders
         *     (`assent:deliver`) and admins (`assent:admin`), and for consumers (`assent:subscribe`), which get only what is about
         *     their own subscriptions. You can read them in three ways:
         *
         *     - as a page;
         *     - as a long poll, with `wait`;
         *     - as Server-Sent Events (WHATWG HTML, section 9.2), with `Accept: text/event-stream`. The event's name is the kind
         *       of the change, its data is the change, and its id is the cursor after it.
         *
         *     A stream sends a `heartbeat` event every 15 seconds by default, also if nothing changed. Its id is the current
         *     cursor. Its data says whether there may be `more` changes already; the first heartbeat always says so. `age` says how many
         *     seconds old the registry's own knowledge is, and is absent while that is current. A stream ends
         *     when the token expires; continue with `Last-Event-ID`.
         *
         *     Each change carries the whole state of its subject at that moment, or `null` if the subject is gone. You can
         *     apply a change twice. Store the cursor of every page and heartbeat. It advances also if something changes that you
         *     do not see, and a cursor older than the retention of changes returns 410.
         *
         *     **Consumers** get changes of their own subscriptions, and of the grants and handshakes that these depend on. Instead
         *     of the state for senders, each change carries the present status of each of your subscriptions that it is about; read
         *     the rest with `GET /subscriptions/{id}`. To start, get a cursor with `GET /changes?limit=1`, then list your
         *     subscriptions, then follow from the cursor. There is no snapshot for consumers. The cursor of a consumer is valid for
         *     this consumer only, and that of a sender is not valid for a consumer.
         *
         *     Senders can ignore `handshake.*`, `grant.expiring` and `grant.expired`. They change no permission: a replica
         *     compares `expiresat` with the clock.
         *
         *     Every token with `assent:deliver` sees sinks and `protocolsettings`, including their headers, and they stay in the
         *     log as long as changes are kept. Put secrets in `sinkcredential`, which is not in the log.
         *
         *     Errors: `cursor_of_other_origin` and `cursor_unknown` (faults of a 400), `cursor_too_old` and
         *     `cursor_of_other_history` (410).
         */
        get: operations["getChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/origins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List origins
         * @description Lists the origins of the tenant by name, with their policy. For anyone with `assent:admin`, `assent:subscribe` or
         *     `assent:deliver`.
         */
        get: operations["getOrigins"];
        put?: never;
        /**
         * Register an origin
         * @description Registers a system that sends events, with the policy for its handshakes (webhook specification, section 4.1.2). For
         *     admins (`assent:admin`). The name never changes.
         *
         *     Errors: `origin_exists` and `default_origin_exists` (409).
         */
        post: operations["createOrigin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/origins/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The DNS name of the origin. */
                name: components["parameters"]["OriginName"];
            };
            cookie?: never;
        };
        /**
         * Read an origin
         * @description Returns an origin and its policy. For anyone with `assent:admin`, `assent:subscribe` or `assent:deliver`.
         */
        get: operations["getOrigin"];
        /**
         * Replace the policy of an origin
         * @description Replaces the policy. For admins (`assent:admin`). It applies to handshakes from now on. Grants stay as they are until
         *     their renewal. `subscriptionrules` apply to registrations and changes of subscriptions from now on; they end none.
         *
         *     Errors: `default_origin_exists` (409), and `invalid_request` (400) with `name_changed` if you send another name.
         */
        put: operations["updateOrigin"];
        post?: never;
        /**
         * Delete an origin
         * @description Deletes an origin and ends its grants. For admins (`assent:admin`). It returns the origin as it was.
         *
         *     Errors: `origin_in_use` (409) while a subscription names it.
         */
        delete: operations["deleteOrigin"];
        options?: never;
        head?: never;
        /**
         * Change some of the policy of an origin
         * @description Applies a JSON merge patch (RFC 7396) and then works like PUT. For admins (`assent:admin`). `null` restores the
         *     default.
         */
        patch: operations["patchOrigin"];
        trace?: never;
    };
    "/origins/{name}/subscriptionrules/check": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The DNS name of the origin. */
                name: components["parameters"]["OriginName"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check subscriptions against subscription rules
         * @description Returns which subscriptions of the origin the given rules would refuse, or the present rules if you send none. For
         *     admins (`assent:admin`). It changes nothing. It leaves out subscriptions that have ended.
         *
         *     Claims are in tokens, so Assent cannot know them here. A subscription that a rule allows for some clients with the
         *     right claims is `undecided`.
         */
        post: operations["checkSubscriptionRules"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List grants
         * @description Lists who may send where, how fast, until when and on what basis (webhook specification, section 4.2). For admins
         *     (`assent:admin`) and senders (`assent:deliver`). Query parameters combine with AND, and match exactly unless they say
         *     otherwise.
         *
         *     A request examines at most 100,000 grants, or 20,000 if you ask for a `subscriber`. If few match, a page can have
         *     fewer entries than `limit`, or none: continue until there is no `Link`.
         *
         *     Errors: `scope_missing` (403) if you are not an admin and ask for a `subscriber`.
         */
        get: operations["getGrants"];
        put?: never;
        /**
         * Record an agreement
         * @description Records consent that organisations settled on paper, without a handshake. For admins (`assent:admin`). It replaces the
         *     current grant of the origin and sink, also a revoked one. Assent does not renew it; it ends at `expiresat`.
         *
         *     Errors: `origin_not_found` (404); `blocked` (403).
         */
        post: operations["createGrant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/grants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a grant. */
                id: components["parameters"]["GrantId"];
            };
            cookie?: never;
        };
        /**
         * Read a grant
         * @description Returns a grant with its basis and, if it is over, why it ended. For admins (`assent:admin`) and senders
         *     (`assent:deliver`).
         */
        get: operations["getGrant"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/grants/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a grant. */
                id: components["parameters"]["GrantId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a grant
         * @description Stops deliveries of an origin to a sink. For admins (`assent:admin`). Open handshakes of the pair end, and their
         *     callback URLs stop working. Only an admin can reverse it: ask the webhook again, or record an agreement.
         */
        post: operations["revokeGrant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/grants/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a grant. */
                id: components["parameters"]["GrantId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a hold
         * @description Ends a hold early, so that senders may send again before the time that the webhook asked for (webhook specification,
         *     section 2.2). For admins (`assent:admin`). Without a hold, nothing changes.
         */
        post: operations["releaseGrant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/blocks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List blocks
         * @description Lists the blocks that are in force, oldest first. For admins (`assent:admin`): those of the tenant, and those of every
         *     tenant. For operators (`assent:block`): those of every tenant that the issuer of the token may name.
         */
        get: operations["getBlocks"];
        put?: never;
        /**
         * Block an origin, a sink, a subscriber or a tenant
         * @description Stops everything under the block, in one call. From then on Assent asks no webhook under it, records no consent, and
         *     matches and permits nothing. New registrations return `blocked` (403), and so do agreements and callbacks. Senders
         *     learn of it through the feed. For admins (`assent:admin`) and operators (`assent:block`).
         *
         *     A block stands above grants and changes none of them. If you lift it, everything is as before. A grant that expired
         *     meanwhile is asked for again. A request that was already on its way to a webhook is not called back, but its response
         *     grants nothing.
         *
         *     With `dryrun=true` nothing is stored. The response is 200, with the effect that the block would have.
         *
         *     Errors: `scope_missing` (403) for another tenant without `assent:block`; `quota_exceeded` (403) at 1,000 blocks.
         */
        post: operations["createBlock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/blocks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a block. */
                id: components["parameters"]["BlockId"];
            };
            cookie?: never;
        };
        /**
         * Read a block
         * @description Returns a block with what is under it now. For admins (`assent:admin`) and operators (`assent:block`).
         *
         *     Errors: `block_not_found` (404), also after it was lifted.
         */
        get: operations["getBlock"];
        put?: never;
        post?: never;
        /**
         * Lift a block
         * @description Ends a block and returns it as it was. What it stopped continues at once, unless another block stops it. No webhook is
         *     asked anew, except for grants that expired meanwhile. For admins (`assent:admin`) and operators (`assent:block`).
         *
         *     Errors: `block_not_found` (404); `scope_missing` (403) for a block that an operator created, without `assent:block`.
         */
        delete: operations["liftBlock"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/handshakes": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * Search all handshakes
         * @description Lists the handshakes of the tenant, newest first and with every attempt, as `GET /subscriptions/{id}/handshakes`
         *     shows them. For admins (`assent:admin`). Query parameters combine with AND, and match exactly unless they say
         *     otherwise.
         *
         *     A request examines at most 100,000 handshakes, or 20,000 if you ask for a `subscriber`. If few match, a page can
         *     have fewer entries than `limit`, or none: continue until there is no `Link`.
         */
        get: operations["findHandshakes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit record
         * @description Lists who changed what from what to what, newest first. An admin (`assent:admin`) sees the entries of the tenant. A
         *     token with `assent:audit` sees those of every tenant that its issuer may name, and nothing else of this API. All
         *     query parameters combine with AND.
         *
         *     `Accept` chooses the form:
         *
         *     - `application/json`: a page. Follow `Link` to the next one.
         *     - `application/jsonl`: an export of every entry that matches, one on each line.
         *     - `text/csv`: the same as CSV (RFC 4180) with a header line. A text that a spreadsheet would read as a formula starts
         *       with an apostrophe.
         *
         *     An export is sent as it is read. It has the entries that existed when it started. It ends without its last chunk if
         *     it is incomplete: when the token expires, after 15 minutes, or when the service stops. Continue with `until`.
         */
        get: operations["getAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how often something happened
         * @description Counts what happened in the tenant, by minute, hour or day. For admins (`assent:admin`). It is made for charts: each
         *     series has one number for each step, from `since` to `until`. What never happened in that time has no series.
         *
         *     Minutes are kept for a day, hours and days for a year. Days are in UTC.
         *
         *     Each process writes its counts every five seconds. So what another process counted appears within seconds, and a
         *     process that is killed loses the counts of its last seconds. For evidence, read the handshakes and the audit record.
         */
        get: operations["getStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read whether the registry keeps up
         * @description Reports how current the process is that responds, and how late handshakes are. For admins (`assent:admin`). Operators
         *     find more on the operations listener, for every process: readiness and metrics.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    handshake: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        /**
         * Answer the handshake
         * @description Assent asks every sink for consent, before the first event and at each renewal (webhook specification, section 4.1).
         *     Only the headers of your response count, not its status. Without them, nobody may send to you, unless you call the
         *     callback URL later.
         *
         *     Whether the response gives consent is in `statusdetails` of the subscription.
         */
        options: operations["askWebhook"];
        head?: never;
        patch?: never;
        trace?: never;
    };
    notice: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a notice about a subscription
         * @description What a subscriber's own webhook gets, if the operator runs `assent notify` and the subscriber subscribed to the origin
         *     of the notices: a CloudEvent about each change of the consent for its subscriptions. The registry sends nothing itself.
         *
         *     Notices arrive at least once: drop an `id` that you have seen. Those about one subscription arrive in order. A webhook
         *     that does not accept a notice gets it again, for a day by default.
         */
        post: operations["receiveNotice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @description `active`: events may be delivered. `pending`: there is no outcome yet. `refused`: the webhook gave no consent, or an
         *     admin revoked the grant. `unreachable`: every attempt to ask failed. `suspended`: the subscriber or an admin suspended
         *     it, or it was registered as suspended. `blocked`: an admin blocks its origin, sink, subscriber or tenant. `expired`: the grant expired, or the subscription ended. `retired`: the webhook returned 410.
         * @enum {string}
         */
        SubscriptionStatus: "pending" | "active" | "refused" | "unreachable" | "suspended" | "blocked" | "expired" | "retired";
        /** @description A place in the request that breaks a rule. */
        Fault: {
            /** @description The place: a JSON pointer into the body (`/sink`), or `query/limit`, `header/prefer`, `path/id`. */
            pointer: string;
            /** @description The stable name of the rule. */
            rule: string;
            /** @description What is wrong there, in the language of the response. */
            detail: string;
        };
        /** @description A problem (RFC 9457) with a stable code, and the place of each fault. */
        Problem: {
            /** @description The kind of problem as a URI: `urn:problem-type:assent:` and the code. */
            type: string;
            /** @description The kind of problem in words, in the language of the response. */
            title: string;
            /** @description The HTTP status code. */
            status: number;
            /** @description What went wrong this time, in the language of the response. */
            detail: string;
            /** @description The stable name of the problem. */
            code: string;
            /** @description The id of this request in the log. */
            requestid: string;
            faults?: components["schemas"]["Fault"][];
        };
        /** @description One filter. Its single member names the dialect, for example `{"prefix": {"type": "com.example."}}`. */
        Filter: {
            [key: string]: unknown;
        };
        /**
         * Format: date-time
         * @description RFC 3339 in UTC, with `Z`.
         */
        Time: string;
        /** @description The credential that was replaced last. Senders also get it until `until`. */
        PreviousCredential: {
            /** @enum {string} */
            credentialtype: "PLAIN" | "ACCESSTOKEN" | "REFRESHTOKEN";
            /** @description When it was set. */
            setat: components["schemas"]["Time"];
            /** @description When its access token expires. */
            endsat?: components["schemas"]["Time"];
            /**
             * @description A keyed hash. The same credential of the same subscription has the same fingerprint until the registry gets a new
             *     key. It reveals nothing about the secret.
             */
            fingerprint: string;
            until: components["schemas"]["Time"];
        };
        /** @description Metadata of the stored credential. The secrets are never returned. */
        PresentCredential: {
            /** @enum {string} */
            credentialtype: "PLAIN" | "ACCESSTOKEN" | "REFRESHTOKEN";
            /** @description When it was set. */
            setat: components["schemas"]["Time"];
            /** @description When its access token expires. */
            endsat?: components["schemas"]["Time"];
            /**
             * @description A keyed hash. The same credential of the same subscription has the same fingerprint until the registry gets a new
             *     key. It reveals nothing about the secret.
             */
            fingerprint: string;
            previous?: components["schemas"]["PreviousCredential"];
        };
        /** @description Requests per minute to ask for with `WebHook-Request-Rate` (webhook specification, section 4.1.4). */
        RequestedRate: number;
        /**
         * @description Whether a handshake offers a callback URL (webhook specification, section 4.1.3).
         * @enum {string}
         */
        CallbackPolicy: "offer" | "never";
        /**
         * @description Where the cause can be changed. `headers`: in the headers of the response to OPTIONS. `webhook`: in the webhook
         *     otherwise, or by its owner's decision. `network`: in what leads to it, such as DNS, the port of the sink or its
         *     certificate. `nobody`: the webhook owner has nothing to change.
         * @enum {string}
         */
        FixedBy: "headers" | "webhook" | "network" | "nobody";
        /** @description Requests per minute; `"*"` means no limit (webhook specification, section 4.2.2). If a webhook allows more than the maximum, the rate is the maximum and the grant has the warning `rate_capped`. */
        Rate: number | "*";
        /**
         * @description The latest call of the callback URL that granted nothing, why, and what to send instead. The audit log has the first
         *     ten of a handshake, as `handshake.callback_rejected`.
         */
        RejectedCallback: {
            at: components["schemas"]["Time"];
            /**
             * @description `origin_mismatch`: it named another origin. `origin_repeated`: it named several. `rate_malformed`: its rate is
             *     malformed. `callback_expired`: the URL had expired. `callback_closed`: the question was closed by a refusal, a
             *     revocation, a deletion, or another sink, origin or rate. `blocked`: an admin blocks the origin, the sink or the subscriber.
             * @enum {string}
             */
            reason: "origin_mismatch" | "origin_repeated" | "rate_malformed" | "callback_expired" | "callback_closed" | "blocked";
            /** @description What the call sent and why it did not count. */
            message: string;
            /** @description What to send instead. */
            advice: string;
            /** @description The number of such calls for this handshake. */
            count: number;
        };
        /** @description Why the subscription has its status, and what happens next. */
        StatusDetails: {
            /**
             * @description A stable code: a verdict, `agreement`, `suspended`, `expired` (the grant expired), `ended` (the subscription
             *     ended at its `expiresat`), `not_asked_yet` (Assent will ask the webhook) or `asking` (Assent waits for its
             *     response).
             */
            reason: string;
            /** @description The reason in words. */
            message: string;
            /** @description What the webhook owner can change. */
            advice?: string;
            fixedby: components["schemas"]["FixedBy"];
            /**
             * @description Someone has to act. False while Assent goes on by itself, and if the subscriber suspended or ended the
             *     subscription.
             */
            attention: boolean;
            /** @description What happens next. */
            next?: string;
            /** @description When it happens. */
            nextat?: components["schemas"]["Time"];
            allowedrate?: components["schemas"]["Rate"];
            expiresat?: components["schemas"]["Time"];
            /** @description A renewal got no response that counts. The grant is valid until `expiresat`, and Assent keeps asking until then. */
            renewal?: {
                /** @enum {string} */
                outcome: "no_answer";
                /** @description The outcome of the last attempt as a stable code. */
                verdict: string;
                /** @description The verdict in words. */
                message: string;
                /** @description What the webhook owner can change. */
                advice?: string;
                fixedby: components["schemas"]["FixedBy"];
                /** @description Seconds until the grant expires. */
                secondsleft: number;
            };
            /** @description Mistakes in the response that were tolerated. */
            warnings?: {
                code: string;
                message: string;
            }[];
            /** @description The id of the handshake that this is based on. */
            handshake?: string;
            rejectedcallback?: components["schemas"]["RejectedCallback"];
        };
        /** @description A place in an event that breaks a rule. */
        RuleBreach: {
            /** @description The place: a JSON pointer into the body, or `header/` and the name of a header. */
            pointer: string;
            /** @description The stable name of the rule. */
            rule: string;
            /** @enum {string} */
            level?: "MUST" | "SHOULD";
            /** @description What is wrong there. */
            detail: string;
        };
        /** @description A stored subscription and its status. */
        Subscription: {
            /** @description The id. It never changes. */
            id: string;
            source?: string;
            types?: string[];
            subject?: string;
            filters?: components["schemas"]["Filter"][];
            sink: string;
            sinkcredential?: components["schemas"]["PresentCredential"];
            protocol: string;
            protocolsettings?: {
                [key: string]: unknown;
            };
            config?: {
                [key: string]: unknown;
            };
            origin: string;
            requestedrate?: components["schemas"]["RequestedRate"];
            callback?: components["schemas"]["CallbackPolicy"];
            /** @description When the subscription ends. Absent if it has no end. */
            expiresat?: components["schemas"]["Time"];
            status: components["schemas"]["SubscriptionStatus"];
            statusdetails: components["schemas"]["StatusDetails"];
            /** @description The client that registered the subscription. */
            subscriber: string;
            /**
             * @description The steps that the filters need for an event whose attributes have 256 characters. Present only if the subscription
             *     requires no particular attribute value, or needs more than 1,024 steps.
             */
            price?: number;
            /**
             * @description Values in `types` or `source` that the profile of the origin makes unlikely. A list of subscriptions leaves it
             *     out.
             */
            warnings?: components["schemas"]["RuleBreach"][];
            /** @description Who suspended it, when and why. Absent if it is not suspended. */
            suspended?: {
                at: components["schemas"]["Time"];
                /** @enum {string} */
                by: "subscriber" | "admin";
                reason: string;
            };
            /** Format: date-time */
            createdat: string;
            /** Format: date-time */
            updatedat: string;
        };
        /** @description A name and a secret. */
        PlainCredential: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            credentialtype: "PLAIN";
            /** @description The name: not empty, no control characters. */
            identifier?: string;
            /** @description The secret: not empty, no control characters. */
            secret?: string;
            /**
             * @description In a request only: how many seconds senders also get the credential that this one replaces. 0 if absent. With only
             *     a type, or with the stored credential, it changes the overlap of the credential that was replaced last: absent
             *     keeps that overlap, 0 ends it. There is no overlap if the sink moves to another host.
             */
            overlapseconds?: number;
            readonly setat?: unknown;
            readonly endsat?: unknown;
            readonly fingerprint?: unknown;
            readonly previous?: unknown;
        };
        /** @description An access token. */
        AccessTokenCredential: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            credentialtype: "ACCESSTOKEN";
            /** @description Visible ASCII without spaces. */
            accesstoken?: string;
            /** @description An RFC 3339 time in UTC, such as 2026-11-20T12:00:00Z. */
            accesstokenexpiresutc?: string;
            /** @description Optional. `bearer` if absent. */
            accesstokentype?: string;
            /**
             * @description In a request only: how many seconds senders also get the credential that this one replaces. 0 if absent. With only
             *     a type, or with the stored credential, it changes the overlap of the credential that was replaced last: absent
             *     keeps that overlap, 0 ends it. There is no overlap if the sink moves to another host.
             */
            overlapseconds?: number;
            readonly setat?: unknown;
            readonly endsat?: unknown;
            readonly fingerprint?: unknown;
            readonly previous?: unknown;
        };
        /** @description An access token, and a refresh token to get the next one. */
        RefreshTokenCredential: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            credentialtype: "REFRESHTOKEN";
            /** @description Visible ASCII without spaces. */
            accesstoken?: string;
            /** @description An RFC 3339 time in UTC, such as 2026-11-20T12:00:00Z. */
            accesstokenexpiresutc?: string;
            /** @description Optional. `bearer` if absent. */
            accesstokentype?: string;
            /**
             * @description In a request only: how many seconds senders also get the credential that this one replaces. 0 if absent. With only
             *     a type, or with the stored credential, it changes the overlap of the credential that was replaced last: absent
             *     keeps that overlap, 0 ends it. There is no overlap if the sink moves to another host.
             */
            overlapseconds?: number;
            readonly setat?: unknown;
            readonly endsat?: unknown;
            readonly fingerprint?: unknown;
            readonly previous?: unknown;
            /** @description Not empty, no control characters. */
            refreshtoken?: string;
            /** @description An https URL that follows the rules for sinks. */
            refreshtokenendpoint?: string;
        };
        /**
         * @description The credential that senders show to the sink (Subscriptions API, section 3.2.3). Assent stores it encrypted and never
         *     returns its secrets, except to senders with the scope `assent:credentials`. A new credential needs every member of its
         *     type that is not optional. To keep the stored one, send only its type.
         */
        SinkCredential: components["schemas"]["PlainCredential"] | components["schemas"]["AccessTokenCredential"] | components["schemas"]["RefreshTokenCredential"];
        /** @description What a consumer asks for when it registers a subscription: a SubscriptionRequest, and whether it begins suspended. */
        SubscriptionRegistration: {
            /** @description Ignored when you create. When you replace, it must equal the id in the path. */
            id?: string;
            /** @description Only events with exactly this `source`, a non-empty URI reference. */
            source?: string;
            /** @description Only events with one of these types. Absent or empty means every type. */
            types?: string[];
            /** @description Only events with exactly this `subject`. */
            subject?: string;
            /**
             * @description Only events that match every filter. The dialects are `exact`, `prefix`, `suffix`, `all`, `any`, `not`
             *     (Subscriptions API, section 3.2.4) and `sql` (CESQL v1). Absent or empty means every event. At most 100 filters,
             *     including those inside others.
             */
            filters?: components["schemas"]["Filter"][];
            /** @description The https URL that events are sent to. Assent asks exactly this URL for consent. */
            sink: string;
            sinkcredential?: components["schemas"]["SinkCredential"];
            /** @description The delivery protocol. Only `HTTP` is supported. */
            protocol: string;
            /**
             * @description Settings for deliveries (Subscriptions API, section 3.2.2.1). If several subscriptions share a sink, the settings
             *     of the oldest one that has any apply to all. Empty settings count as absent.
             */
            protocolsettings?: {
                /**
                 * @description `structured` (the default) or `binary` (CloudEvents HTTP protocol binding, section 3). An event without data,
                 *     or with bytes of an unknown type, is always structured (webhook specification, section 2.1).
                 */
                contentmode?: string;
                /** @description Headers to send with each delivery, at most 50. */
                headers?: {
                    [key: string]: string;
                };
                /** @description Only `POST` (webhook specification, section 2.1). */
                method?: string;
            } & {
                [key: string]: unknown;
            };
            /** @description Settings for the system that generates the events. Assent stores and returns them. At most 8 KiB as JSON. */
            config?: {
                [key: string]: unknown;
            };
            /** @description The origin that sends the events. If absent, the tenant's default origin. */
            origin?: string;
            requestedrate?: components["schemas"]["RequestedRate"];
            /**
             * @description `never` asks the webhook without a callback URL. Use it for webhooks that withhold their headers whenever a
             *     callback is offered. `offer` if absent. `never` in the origin's policy takes precedence. A renewal covers all
             *     subscriptions of an origin to a sink, and leaves the callback out if all of them say `never`.
             */
            callback?: components["schemas"]["CallbackPolicy"];
            /**
             * Format: date-time
             * @description When the subscription ends: an RFC 3339 time in the future, at most five years from now. From then on it matches
             *     nothing, and its status is `expired`. If absent, it has no end. A replacement may repeat an end that has passed.
             */
            expiresat?: string;
            readonly status?: unknown;
            readonly statusdetails?: unknown;
            readonly subscriber?: unknown;
            readonly price?: unknown;
            readonly warnings?: unknown;
            /**
             * @description `true` registers a draft: Assent checks and stores the subscription, and doesn't ask its webhook until you resume
             *     it. In a subscription that you read, `suspended` is an object. To register a copy of one, send `true` or leave the
             *     member out. Replacing and patching a subscription ignore the member; suspend and resume it instead.
             */
            suspended?: boolean;
            readonly createdat?: unknown;
            readonly updatedat?: unknown;
        };
        /**
         * @description What a consumer asks for (Subscriptions API, section 3.2.1). You can send back what you read: Assent ignores the
         *     members that only it sets.
         */
        SubscriptionRequest: {
            /** @description Ignored when you create. When you replace, it must equal the id in the path. */
            id?: string;
            /** @description Only events with exactly this `source`, a non-empty URI reference. */
            source?: string;
            /** @description Only events with one of these types. Absent or empty means every type. */
            types?: string[];
            /** @description Only events with exactly this `subject`. */
            subject?: string;
            /**
             * @description Only events that match every filter. The dialects are `exact`, `prefix`, `suffix`, `all`, `any`, `not`
             *     (Subscriptions API, section 3.2.4) and `sql` (CESQL v1). Absent or empty means every event. At most 100 filters,
             *     including those inside others.
             */
            filters?: components["schemas"]["Filter"][];
            /** @description The https URL that events are sent to. Assent asks exactly this URL for consent. */
            sink: string;
            sinkcredential?: components["schemas"]["SinkCredential"];
            /** @description The delivery protocol. Only `HTTP` is supported. */
            protocol: string;
            /**
             * @description Settings for deliveries (Subscriptions API, section 3.2.2.1). If several subscriptions share a sink, the settings
             *     of the oldest one that has any apply to all. Empty settings count as absent.
             */
            protocolsettings?: {
                /**
                 * @description `structured` (the default) or `binary` (CloudEvents HTTP protocol binding, section 3). An event without data,
                 *     or with bytes of an unknown type, is always structured (webhook specification, section 2.1).
                 */
                contentmode?: string;
                /** @description Headers to send with each delivery, at most 50. */
                headers?: {
                    [key: string]: string;
                };
                /** @description Only `POST` (webhook specification, section 2.1). */
                method?: string;
            } & {
                [key: string]: unknown;
            };
            /** @description Settings for the system that generates the events. Assent stores and returns them. At most 8 KiB as JSON. */
            config?: {
                [key: string]: unknown;
            };
            /** @description The origin that sends the events. If absent, the tenant's default origin. */
            origin?: string;
            requestedrate?: components["schemas"]["RequestedRate"];
            /**
             * @description `never` asks the webhook without a callback URL. Use it for webhooks that withhold their headers whenever a
             *     callback is offered. `offer` if absent. `never` in the origin's policy takes precedence. A renewal covers all
             *     subscriptions of an origin to a sink, and leaves the callback out if all of them say `never`.
             */
            callback?: components["schemas"]["CallbackPolicy"];
            /**
             * Format: date-time
             * @description When the subscription ends: an RFC 3339 time in the future, at most five years from now. From then on it matches
             *     nothing, and its status is `expired`. If absent, it has no end. A replacement may repeat an end that has passed.
             */
            expiresat?: string;
            readonly status?: unknown;
            readonly statusdetails?: unknown;
            readonly subscriber?: unknown;
            readonly price?: unknown;
            readonly warnings?: unknown;
            readonly suspended?: unknown;
            readonly createdat?: unknown;
            readonly updatedat?: unknown;
        };
        /**
         * @description A JSON merge patch (RFC 7396) for the subscription. `null` removes a member. Members that only Assent sets are
         *     ignored, `suspended` too.
         */
        SubscriptionPatch: {
            [key: string]: unknown;
        };
        Reason: {
            /** @description Why. Assent keeps it with the record. It must have a character that is not a space. */
            reason: string;
        };
        /**
         * @description Why Assent asks. `registration`: a new subscription. `change`: another sink, origin or rate. `request`: a consumer or
         *     admin asked for it. `renewal`: the grant expires soon.
         * @enum {string}
         */
        HandshakeReason: "registration" | "change" | "request" | "renewal";
        /**
         * @description `due`: an attempt is planned. `asking`: an attempt is running. `waiting`: the response gave no consent, and the
         *     callback URL still works. `granted`, `refused`: the webhook or its owner decided. `unreachable`: no attempt got a
         *     response that counts. `retired`: the webhook returned 410. `cancelled`: the outcome is no longer needed.
         * @enum {string}
         */
        HandshakeState: "due" | "asking" | "waiting" | "granted" | "refused" | "unreachable" | "retired" | "cancelled";
        /** @description Header lines in the order in which they were sent. A callback key is masked. */
        HeaderLines: {
            name: string;
            value: string;
        }[];
        /**
         * @description One OPTIONS request. Only admins see the status code, address and timing of the webhook. Others see the verdict and
         *     the WebHook headers.
         */
        Attempt: {
            /** @description The number of the attempt in the handshake, from 1. */
            number: number;
            startedat: components["schemas"]["Time"];
            finishedat?: components["schemas"]["Time"];
            request: components["schemas"]["HeaderLines"];
            answer?: components["schemas"]["HeaderLines"];
            /** @description The status code of the response. Admins only. */
            status?: number;
            /** @description The address that was called. Admins only. */
            remoteaddress?: string;
            /** @description The duration of each stage in milliseconds. A stage that did not complete is absent. */
            timing?: {
                lookupms?: number;
                connectms?: number;
                tlsms?: number;
                answerms?: number;
                totalms: number;
            };
            /** @description The outcome as a stable code. Absent until there is one. */
            verdict?: string;
            /** @description The verdict in words. */
            message?: string;
            /** @description What the webhook owner can change. */
            advice?: string;
            fixedby?: components["schemas"]["FixedBy"];
            /** @description Codes of mistakes in the response that were tolerated. */
            warnings?: string[];
        };
        /** @description One exchange with one sink for one origin, with its attempts and outcome (webhook specification, section 4). */
        Handshake: {
            id: string;
            origin: string;
            sink: string;
            /**
             * @description The id of the subscription that Assent asks for; it may have been deleted. Absent for a renewal, which belongs to
             *     every subscription of the origin to the sink.
             */
            subscription?: string;
            reason: components["schemas"]["HandshakeReason"];
            requestedrate?: components["schemas"]["RequestedRate"];
            state: components["schemas"]["HandshakeState"];
            /**
             * @description The outcome of the last attempt or of the handshake, as a stable code. Admins see whether the host of the sink
             *     does not exist (`name_not_found`) or has an address that Assent must not call (`address_not_allowed`). Others see
             *     `name_not_public` for both.
             */
            verdict?: string;
            /** @description The verdict in words. */
            message?: string;
            /** @description What the webhook owner can change. */
            advice?: string;
            fixedby?: components["schemas"]["FixedBy"];
            /** @description What happens next. */
            next?: string;
            /** @description When it happens. */
            nextat?: components["schemas"]["Time"];
            rejectedcallback?: components["schemas"]["RejectedCallback"];
            createdat: components["schemas"]["Time"];
            /** @description Absent until the handshake is over. */
            finishedat?: components["schemas"]["Time"];
            attempts: components["schemas"]["Attempt"][];
        };
        /** @description What senders reported for a pair of origin and sink. */
        Deliveries: {
            origin: string;
            sink: string;
            /**
             * @description The number of deliveries by outcome: `delivered` (2xx), `gone` (410), `throttled` (429), `unavailable` (503),
             *     `mediarefused` (415), `unauthorized` (401, 403), `redirected` (3xx), `rejected` (any other 4xx), `failed` (any
             *     other 5xx), `unanswered` (no response). An outcome that never occurred is absent.
             */
            counts: {
                [key: string]: number;
            };
            /**
             * Format: int64
             * @description Failed deliveries since the last success.
             */
            failures: number;
            /** @description The first failure since the last success. */
            failingsince?: components["schemas"]["Time"];
            /** @description The last success. */
            deliveredat?: components["schemas"]["Time"];
            /** @description The outcome of the last delivery; a name in `counts`. */
            lastkind?: string;
            /** @description The last delivery. */
            lastat?: components["schemas"]["Time"];
            /** @description The status code of the last delivery. Admins only. */
            laststatus?: number;
            /** @description The end of a hold. The webhook asked senders to wait until then. */
            helduntil?: components["schemas"]["Time"];
            /** @description How deliveries go. */
            message?: string;
            /** @description What to change. */
            advice?: string;
        };
        /** @description An event, and either the id of a stored subscription or the members of a new one. */
        FilterTest: {
            /** @description A CloudEvent in the JSON format, read in the same way as for a match. */
            event: {
                [key: string]: unknown;
            };
            /** @description The id of a stored subscription. */
            subscription?: string;
            source?: string;
            types?: string[];
            subject?: string;
            filters?: components["schemas"]["Filter"][];
        };
        FilterTestAnswer: {
            matched: boolean;
            /** @description The first part that does not match. */
            pointer?: string;
            /** @description Why it does not match, if the event alone does not show it. */
            detail?: string;
        };
        /** @description The decision. The first one counts, and later calls return it. */
        CallbackDecision: {
            /** @description `false` if the webhook owner refused. */
            granted: boolean;
            origin: string;
            sink: string;
            /** @description Present if granted. */
            allowedrate?: components["schemas"]["Rate"];
            /** @description Present if granted. */
            expiresat?: components["schemas"]["Time"];
        };
        /** @description What the form of the page sends. Without `decision`, the call counts as one without a form. */
        CallbackForm: {
            /** @enum {string} */
            decision?: "allow" | "refuse";
            /** @description Replaces `WebHook-Allowed-Rate`. Empty counts as absent. */
            rate?: string;
        };
        /** @description A CloudEvent in the JSON format. It can have any extension attributes. */
        CloudEvent: {
            /** @enum {string} */
            specversion: "1.0";
            id: string;
            source: string;
            type: string;
            subject?: string;
            /** Format: date-time */
            time?: string;
            datacontenttype?: string;
            dataschema?: string;
            /** @description Any JSON value. Matching ignores it. */
            data?: unknown;
            /** @description Binary data instead of `data`, in Base64. */
            data_base64?: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description A webhook that gets the event once for all its subscriptions. Send one `POST` to `sink` when a lease or an unlimited
         *     rate allows it (webhook specification, section 2.1). Do not follow redirects.
         *
         *     Headers, where a later one replaces an earlier one of the same name:
         *
         *     1. those in `protocolsettings.headers`;
         *     2. those of the content mode;
         *     3. `WebHook-Request-Origin` with the `origin` of this response;
         *     4. `Authorization` for `sinkcredential`. For `PLAIN`, use `Basic` (RFC 7617, in UTF-8) with `identifier` and `secret`.
         *        Otherwise, use `Bearer` with `accesstoken` if `accesstokentype` is absent or `bearer` in any letter case.
         *
         *     If `hascredential` is `true` and you have no credential that you can use, deliver nothing.
         *
         *     Content modes (CloudEvents HTTP protocol binding, section 3):
         *
         *     - `structured`: the body is the event as JSON, with `Content-Type: application/cloudevents+json; charset=utf-8`.
         *     - `binary`: the body is the data, `Content-Type` is `datacontenttype`, and every other attribute is a `ce-` header.
         *       Percent-encode (in UTF-8) everything outside visible ASCII, and `"` and `%`. Use `structured` anyway if the event
         *       has no data, or bytes without a `datacontenttype`. Do the same for text in a charset other than UTF-8 or US-ASCII,
         *       and if `datacontenttype` starts with `application/cloudevents`.
         */
        MatchedSink: {
            sink: string;
            /** @description The ids of the subscriptions that match. */
            subscriptions: string[];
            allowedrate: components["schemas"]["Rate"];
            expiresat: components["schemas"]["Time"];
            /** @description The end of a hold. Deliver after it. */
            helduntil?: components["schemas"]["Time"];
            /**
             * @description How to send the event.
             * @enum {string}
             */
            contentmode: "structured" | "binary";
            /** @description The settings of the oldest subscription that has any. */
            protocolsettings?: {
                [key: string]: unknown;
            };
            /**
             * @description `true` if the webhook needs a credential, absent otherwise. Deliver nothing without it. A token without the scope
             *     `assent:credentials` gets this member but no `sinkcredential`.
             */
            hascredential?: boolean;
            /** @description The credential of the oldest subscription that has one. Needs the scope `assent:credentials`. */
            sinkcredential?: components["schemas"]["SinkCredential"];
            /**
             * @description The credential that `sinkcredential` replaced, while both are valid. If the webhook returns 401 to the new one, it
             *     may not know it yet. Send once more with this one, before `until`.
             */
            previouscredential?: {
                until: components["schemas"]["Time"];
                sinkcredential: components["schemas"]["SinkCredential"];
            };
        };
        /**
         * @description Webhooks that should get the event too, but no key of the registry can decrypt their credential. Deliver nothing there
         *     and match again later. Needs the scope `assent:credentials`. Absent if there are none.
         */
        WithheldSinks: components["schemas"]["MatchedSink"][];
        Explanation: {
            subscription: string;
            sink: string;
            matched: boolean;
            /** @description `matched`, `filter` (a part does not match), `blocked`, `suspended`, `no_grant`, `expired`, `revoked` or `ended` (the grant or the subscription). */
            reason: string;
            /** @description The first part of the subscription that does not match. */
            pointer?: string;
            /** @description Why it does not match, if the event alone does not show it. */
            detail?: string;
        };
        /** @description The sinks of one event. */
        MatchAnswer: {
            /** @description The position in the change log that this match is based on. */
            revision: string;
            /** @description The origin: the value of `WebHook-Request-Origin` on each delivery. */
            origin: string;
            sinks: components["schemas"]["MatchedSink"][];
            withheld?: components["schemas"]["WithheldSinks"];
            warnings?: components["schemas"]["RuleBreach"][];
            explanations?: components["schemas"]["Explanation"][];
        };
        /** @description The sinks of one event of a batch, or its faults. */
        MatchedEvent: {
            /**
             * @description The position that this event was matched at, if it is later than that of the response. A large batch is matched in
             *     several steps.
             */
            revision?: string;
            sinks?: components["schemas"]["MatchedSink"][];
            withheld?: components["schemas"]["WithheldSinks"];
            warnings?: components["schemas"]["RuleBreach"][];
            faults?: components["schemas"]["RuleBreach"][];
            explanations?: components["schemas"]["Explanation"][];
        };
        /** @description The sinks of each event of a batch, in order. */
        BatchAnswer: {
            /** @description The position in the change log that this match is based on. An event can have a later one. */
            revision: string;
            origin: string;
            events: components["schemas"]["MatchedEvent"][];
        };
        /**
         * @description A set of rules for events.
         * @enum {string}
         */
        Profile: "cloudevents" | "nl-gov" | "intg-std-015" | "belgif";
        /** @description The rules that one event breaks. */
        ValidatedEvent: {
            /** @description Whether it breaks no MUST. */
            valid: boolean;
            /** @description The MUSTs that it breaks. */
            faults: components["schemas"]["RuleBreach"][];
            /** @description The SHOULDs that it breaks. */
            warnings: components["schemas"]["RuleBreach"][];
        };
        Validation: {
            profile: components["schemas"]["Profile"];
            /** @description Whether no event breaks a MUST. */
            valid: boolean;
            events: components["schemas"]["ValidatedEvent"][];
        };
        /**
         * @description How consent was given. `response`: by the response to OPTIONS. `callback`: through the callback URL. `agreement`: on
         *     paper, recorded by an admin. `policy`: the webhook does not support the handshake, and the origin's policy allows a
         *     low rate.
         * @enum {string}
         */
        GrantBasis: "response" | "callback" | "agreement" | "policy";
        /** @description Whether an origin may send to a sink now. */
        Permission: {
            origin: string;
            sink: string;
            allowed: boolean;
            allowedrate?: components["schemas"]["Rate"];
            expiresat?: components["schemas"]["Time"];
            basis?: components["schemas"]["GrantBasis"];
            /** @description The id of the grant. */
            grant?: string;
            /** @description The end of a hold. The webhook asked senders to wait until then. */
            helduntil?: components["schemas"]["Time"];
            /**
             * @description Why not: `no_grant`, `expired`, `revoked`, `ended`, `blocked` (an admin blocks the origin or the
             *     sink), `suspended` (every subscription to this sink is suspended, or its subscriber blocked), or
             *     `held` (the webhook asked senders to wait until `helduntil`; the consent stands, so send later).
             */
            reason?: string;
            /** @description The reason in words. */
            message?: string;
        };
        /** @description A pair of origin and sink. */
        PermissionQuestion: {
            origin: string;
            sink: string;
        };
        /** @description A subject or a resource. */
        AccessEntity: {
            /** @description `origin` for a subject, `sink` for a resource. */
            type: string;
            /** @description The name of the origin, or the exact URL of the sink. */
            id: string;
            /** @description Ignored. */
            properties?: Record<string, never>;
        };
        AccessAction: {
            /** @description `deliver`. */
            name: string;
            /** @description Ignored. */
            properties?: Record<string, never>;
        };
        /** @description May the subject perform the action on the resource? */
        AccessRequest: {
            subject: components["schemas"]["AccessEntity"];
            action: components["schemas"]["AccessAction"];
            resource: components["schemas"]["AccessEntity"];
            /** @description Ignored. */
            context?: Record<string, never>;
        };
        /** @description Why, how fast and until when. The members are those of `GET /permissions`. */
        AccessContext: {
            /**
             * @description Why not: a `reason` of `GET /permissions`, or `subject_type_unknown`, `action_unknown`, `resource_type_unknown`, or
             *     `request_invalid`.
             */
            reason?: string;
            /** @description The reason in words. */
            message?: string;
            allowedrate?: components["schemas"]["Rate"];
            expiresat?: components["schemas"]["Time"];
            basis?: components["schemas"]["GrantBasis"];
            /** @description The id of the grant. */
            grant?: string;
            helduntil?: components["schemas"]["Time"];
            /** @description What is wrong with this entry. */
            error?: {
                status: number;
                message: string;
            };
        };
        AccessDecision: {
            decision: boolean;
            context: components["schemas"]["AccessContext"];
        };
        /** @description Many access requests, with defaults. */
        AccessRequests: {
            subject?: components["schemas"]["AccessEntity"];
            action?: components["schemas"]["AccessAction"];
            resource?: components["schemas"]["AccessEntity"];
            /** @description Ignored. */
            context?: Record<string, never>;
            /** @description The requests. Each may have `subject`, `action` and `resource`, which replace those at the top as a whole. */
            evaluations?: Record<string, never>[];
            options?: {
                /**
                 * @description `execute_all`, the default, decides all of them. The others end with the first `false` or the first `true`.
                 * @enum {string}
                 */
                evaluations_semantic?: "execute_all" | "deny_on_first_deny" | "permit_on_first_permit";
            };
        };
        AccessDecisions: {
            evaluations?: components["schemas"]["AccessDecision"][];
            /** @description Without `evaluations` in the request. */
            decision?: boolean;
            context?: components["schemas"]["AccessContext"];
        };
        LeaseRequest: {
            origin: string;
            sink: string;
            /**
             * @description The name of this process among the senders of the origin. Use a new name at each start. At most 1,000 instances can
             *     ask for a pair within five minutes. One more gets nothing, and a `retryafter` of 60.
             */
            instance: string;
            /** @description The number of requests that wait to be sent. */
            requests: number;
            /**
             * @description Earlier leases of this instance for the same pair, with the number of requests that were not sent and will not be
             *     sent. You can return each of the latest four once. Others are ignored.
             */
            returns?: {
                lease: string;
                unused: number;
            }[];
        };
        /** @description A share of the rate of a pair of origin and sink. */
        Lease: {
            origin: string;
            sink: string;
            /** @description The number of requests that this instance may send with this lease. 0 if none are free now. */
            requests: number;
            /** @description The rate of the pair. The lease is a share of it. */
            allowedrate: components["schemas"]["Rate"];
            /** @description `true` if the rate is `*`. You need no lease. */
            unlimited?: boolean;
            /** @description The id of the lease. Use it to return the requests that you did not send. */
            lease?: string;
            /**
             * @description How long the lease lasts, from the moment that you sent this request. Your clock need not be right. After that,
             *     send nothing with this lease.
             */
            seconds?: number;
            /** @description The end of the lease by the clock of the database. */
            until?: components["schemas"]["Time"];
            /**
             * @description Seconds, with a fraction, to wait before you ask for more. If you ask earlier while others wait, you get nothing
             *     and keep your turn.
             */
            retryafter?: number;
            /** @description The end of a hold. The webhook asked senders to wait until then. */
            helduntil?: components["schemas"]["Time"];
        };
        ReturnedLease: {
            lease: string;
            /** @description The number of requests that other instances can use again. 0 if the lease was returned before, or too late. */
            returned: number;
        };
        /** @description How one delivery ended, or `count` deliveries that ended in the same way. */
        Outcome: {
            origin: string;
            sink: string;
            /** @description The status code that the webhook returned, or `error` if there was no response. */
            status: number | "error";
            /**
             * Format: date-time
             * @description When the response arrived, by the sender's clock. Leave it out if that clock may be wrong. A 410 from before the
             *     current consent does not count. The time since then is subtracted from a hold.
             */
            at?: string;
            /**
             * @description The `Retry-After` header of the response, unchanged: seconds, or an HTTP date, which is compared with `at`. It
             *     counts with 429 and 503, for at most a day.
             */
            retryafter?: number | string;
            /** @description The number of deliveries. 1 if absent. */
            count?: number;
        };
        ReportFault: {
            /** @description JSON pointer into the report. */
            pointer: string;
            /** @description The stable name of the rule. */
            rule: string;
            /** @description What is wrong there. */
            detail: string;
        };
        /** @description The result for one entry of a report. */
        OutcomeResult: {
            accepted: boolean;
            /** @description Why the entry was not accepted. `no_grant`: the origin never had a grant for this sink. */
            faults?: components["schemas"]["ReportFault"][];
            /** @description The entry was accepted, but part of it was ignored. */
            warnings?: components["schemas"]["ReportFault"][];
        };
        FeedOrigin: {
            name: string;
            /** @description Events without another origin belong to this one. */
            isdefault: boolean;
            profile: components["schemas"]["Profile"];
            /** @description An admin blocks it: it may send nothing, whatever its grants say. */
            blocked: boolean;
        };
        /**
         * @description A subscription. Deliver to it if it is not suspended, `expiresat` has not passed, and its origin may send to its
         *     sink. A subscription whose end has passed is soon gone: a snapshot leaves it out, and the state of its change
         *     `subscription.expired` is null. `source`, `subject`,
         *     `filters` and `protocolsettings` are as in the subscription, and null if it has none. `types` is empty if it wants
         *     every type.
         */
        FeedSubscription: {
            id: string;
            /** @description The client that registered it. */
            subscriber?: string;
            origin: string;
            sink: string;
            source?: string | null;
            types?: string[] | null;
            subject?: string | null;
            filters?: Record<string, never>[] | null;
            protocolsettings?: Record<string, never> | null;
            /** @description Whether it has a credential. `POST /match` returns it. */
            hascredential: boolean;
            /** @description It is suspended, or its subscriber is blocked. */
            suspended: boolean;
            /**
             * Format: date-time
             * @description The end of the subscription; null if it has none. It matches nothing from then on.
             */
            expiresat?: string | null;
            status?: components["schemas"]["SubscriptionStatus"];
            /** @description The same as in `statusdetails`. Only in a snapshot with `status=true`. */
            reason?: string;
            /** @description The handshake of the status. Only in a snapshot with `status=true`. */
            handshake?: string | null;
        };
        /**
         * @description A grant. The origin may send to the sink while it is not `blocked`, `state` is `live`, `expiresat` is in the future, and `helduntil` is in
         *     the past or null.
         */
        FeedGrant: {
            id: string;
            origin: string;
            sink: string;
            /** @enum {string} */
            state: "live" | "ended" | "revoked" | "blocked";
            basis: components["schemas"]["GrantBasis"];
            /** @description Requests per minute, as a string, or `*`. */
            allowedrate: string;
            expiresat: components["schemas"]["Time"];
            /**
             * Format: date-time
             * @description The end of a hold.
             */
            helduntil?: string | null;
        };
        /**
         * @description For consumers: the present status of each of your subscriptions that the change is about, at most 1,000. It may be
         *     newer than the change.
         */
        FeedStatus: {
            subscriptions: {
                id: string;
                status: components["schemas"]["SubscriptionStatus"];
                /** @description The same as in `statusdetails`. */
                reason: string;
            }[];
        };
        /**
         * @description The state of the origin, subscription or grant, as far as matching and permissions need it. A later version may add
         *     members.
         */
        FeedState: components["schemas"]["FeedOrigin"] | components["schemas"]["FeedSubscription"] | components["schemas"]["FeedGrant"] | components["schemas"]["FeedStatus"];
        SnapshotLine: {
            /** @enum {string} */
            kind: "origin" | "subscription" | "grant" | "end";
            state?: components["schemas"]["FeedState"];
            /** @description The cursor to follow from. Last line only. */
            cursor?: string;
            /** @description The position of the snapshot in the change log. Last line only. */
            revision?: string;
        };
        PresentStatus: {
            id: string;
            status: components["schemas"]["SubscriptionStatus"];
            /** @description The same as in `statusdetails`. */
            reason: string;
            subscriber: string;
            origin: string;
            sink: string;
            /** @description The id of the handshake that the status is based on. */
            handshake: string | null;
            /** @description Of the grant: requests per minute, as a string, or `*`. */
            allowedrate: string | null;
            /**
             * Format: date-time
             * @description The end of the grant.
             */
            expiresat: string | null;
        };
        Change: {
            /** @description The cursor to continue from after this change. */
            cursor: string;
            /** @description The position of the change in the log. `POST /match` returns the same number. */
            revision: string;
            at: components["schemas"]["Time"];
            /**
             * @description What happened, for people and logs. The part before the dot is the kind of `state`. `subscription.moved` tells
             *     readers of the old origin that the subscription now belongs to another one. `handshake.*` is a handshake that ended
             *     without consent; its `state` is null for senders. `grant.expiring` means that the grant was not renewed although it
             *     expires soon: within the last tenth of its lifetime, and at most 7 days before its end. A later version may add
             *     kinds: ignore those that you don't know.
             * @enum {string}
             */
            kind: "subscription.created" | "subscription.replaced" | "subscription.moved" | "subscription.deleted" | "subscription.suspended" | "subscription.resumed" | "subscription.expired" | "subscription.blocked" | "subscription.unblocked" | "origin.changed" | "origin.blocked" | "origin.unblocked" | "grant.live" | "grant.ended" | "grant.revoked" | "grant.held" | "grant.released" | "grant.expiring" | "grant.expired" | "handshake.refused" | "handshake.unreachable" | "handshake.retired" | "grant.blocked" | "grant.unblocked";
            origin: string;
            sink?: string;
            subscription?: string;
            /**
             * @description Why, as a code: the verdict of a handshake without consent, or why a grant ended (`renewal_refused`,
             *     `target_gone`, `no_subscription`, `reopened`, `origin_removed`). Absent otherwise.
             */
            reason?: string;
            state: components["schemas"]["FeedState"] | null;
            /**
             * @description With `status=true`, for senders and admins: where each subscription that the change is about stands now, at most
             *     1,000. It may be newer than the change.
             */
            subscriptions?: components["schemas"]["PresentStatus"][];
        };
        ChangePage: {
            changes: components["schemas"]["Change"][];
            /** @description The cursor to continue from. An empty page has one too. */
            cursor: string;
            /** @description There are more changes already. */
            more: boolean;
        };
        /**
         * @description How strictly Assent reads the responses of webhooks to OPTIONS. `lenient` tolerates common mistakes.
         * @enum {string}
         */
        Judgement: "strict" | "lenient";
        ClaimValue: string | number | boolean;
        /** @description The accepted value of a claim, or several. */
        ClaimValues: string | number | boolean | components["schemas"]["ClaimValue"][];
        /**
         * @description Allows subscribers to subscribe to events. All members must apply, and an absent member limits nothing. Values are
         *     compared exactly, with upper and lower case.
         */
        SubscriptionRule: {
            /** @description A unique name for people. Subscribers that the rule is about can see it. */
            name: string;
            /** @description Only these clients. */
            subscribers?: string[];
            /**
             * @description Only clients whose token has each of these claims, with the accepted value or one of several. If the token has an
             *     array, one entry must be accepted. A name that begins with a slash is a JSON pointer, such as
             *     `/realm_access/roles`.
             */
            claims?: {
                [key: string]: components["schemas"]["ClaimValues"];
            };
            /** @description Only events with one of these types. A value that ends with `*` stands for every type that begins so. */
            types?: string[];
            /** @description Only events from one of these sources. Written like `types`, and compared as text. */
            sources?: string[];
            /** @description Only events with one of these subjects. An event without a subject has none. Written like `types`. */
            subjects?: string[];
        };
        /** @description An origin and its policy. */
        Origin: {
            name: string;
            isdefault: boolean;
            requestedrate?: components["schemas"]["RequestedRate"];
            defaultrate: components["schemas"]["Rate"];
            judgement: components["schemas"]["Judgement"];
            callback: components["schemas"]["CallbackPolicy"];
            unsupportedrate?: number;
            leaseseconds: number;
            profile: components["schemas"]["Profile"];
            goneafter: number;
            subscriptionrules?: components["schemas"]["SubscriptionRule"][];
            createdat: components["schemas"]["Time"];
            updatedat: components["schemas"]["Time"];
        };
        /** @description An origin to register, with its policy. */
        OriginRequest: {
            /** @description A DNS name: the value of `WebHook-Request-Origin`. It never changes. */
            name: string;
            /** @description Whether subscriptions without an origin use this one. `false` if absent. */
            isdefault?: boolean;
            requestedrate?: components["schemas"]["RequestedRate"];
            /** @description The rate if none was requested and the webhook names none. 60 if absent. */
            defaultrate?: components["schemas"]["Rate"];
            /** @description How strictly Assent reads responses to OPTIONS. `strict` if absent. */
            judgement?: components["schemas"]["Judgement"];
            /** @description Whether handshakes of this origin offer a callback URL. `offer` if absent. */
            callback?: components["schemas"]["CallbackPolicy"];
            /** @description The rate for webhooks that return 405 or 501 to OPTIONS. If absent, they get no events. */
            unsupportedrate?: number;
            /** @description The lifetime of a grant in seconds. 864000, ten days, if absent. */
            leaseseconds?: number;
            /** @description The profile that events of this origin must follow. `cloudevents` if absent. */
            profile?: components["schemas"]["Profile"];
            /** @description The number of 410 responses in a row, to deliveries, that retire a webhook. 1 if absent. */
            goneafter?: number;
            /**
             * @description Who may subscribe to what. A subscription is allowed if rules about its subscriber allow every event that it could
             *     match. If absent, anyone of the tenant may subscribe to anything. An empty array allows no subscription. Only
             *     admins see the rules. A change does not end subscriptions that exist.
             */
            subscriptionrules?: components["schemas"]["SubscriptionRule"][];
            readonly createdat?: unknown;
            readonly updatedat?: unknown;
        };
        /** @description The policy that replaces the current one. */
        OriginSettings: {
            /** @description A DNS name: the value of `WebHook-Request-Origin`. It never changes. */
            name?: string;
            /** @description Whether subscriptions without an origin use this one. `false` if absent. */
            isdefault?: boolean;
            requestedrate?: components["schemas"]["RequestedRate"];
            /** @description The rate if none was requested and the webhook names none. 60 if absent. */
            defaultrate?: components["schemas"]["Rate"];
            /** @description How strictly Assent reads responses to OPTIONS. `strict` if absent. */
            judgement?: components["schemas"]["Judgement"];
            /** @description Whether handshakes of this origin offer a callback URL. `offer` if absent. */
            callback?: components["schemas"]["CallbackPolicy"];
            /** @description The rate for webhooks that return 405 or 501 to OPTIONS. If absent, they get no events. */
            unsupportedrate?: number;
            /** @description The lifetime of a grant in seconds. 864000, ten days, if absent. */
            leaseseconds?: number;
            /** @description The profile that events of this origin must follow. `cloudevents` if absent. */
            profile?: components["schemas"]["Profile"];
            /** @description The number of 410 responses in a row, to deliveries, that retire a webhook. 1 if absent. */
            goneafter?: number;
            /**
             * @description Who may subscribe to what. A subscription is allowed if rules about its subscriber allow every event that it could
             *     match. If absent, anyone of the tenant may subscribe to anything. An empty array allows no subscription. Only
             *     admins see the rules. A change does not end subscriptions that exist.
             */
            subscriptionrules?: components["schemas"]["SubscriptionRule"][];
            readonly createdat?: unknown;
            readonly updatedat?: unknown;
        };
        /** @description A JSON merge patch (RFC 7396) for the policy. `null` restores the default of a member. */
        OriginPatch: {
            [key: string]: unknown;
        };
        /** @description Subscription rules to check. The present rules of the origin if absent. */
        RuleCheck: {
            subscriptionrules?: components["schemas"]["SubscriptionRule"][];
        };
        /** @description A subscription that rules refuse, or may refuse. */
        CheckedSubscription: {
            id: string;
            subscriber: string;
            /** @enum {string} */
            verdict: "refused" | "undecided";
            faults: components["schemas"]["Fault"][];
        };
        /** @description What subscription rules say about the subscriptions of an origin. */
        RuleCheckResult: {
            /** @description The number of subscriptions that were examined. */
            examined: number;
            /** @description Whether these are all subscriptions of the origin. */
            complete: boolean;
            /** @description The number of subscriptions that the rules refuse. */
            refused: number;
            /** @description The number of subscriptions that depend on the claims of a token. */
            undecided: number;
            /** @description The first 100 of those that are refused or undecided, oldest first. */
            subscriptions: components["schemas"]["CheckedSubscription"][];
        };
        /** @description The stored record that an origin may send to a sink, or no longer may. */
        Grant: {
            id: string;
            origin: string;
            sink: string;
            /**
             * @description `live`: the origin may send. `expired`: `expiresat` is in the past. `blocked`: a block stops
             *     it; it is live again when that is lifted. `ended`: see `endreason`. `revoked`: an admin
             *     revoked it.
             * @enum {string}
             */
            state: "live" | "expired" | "blocked" | "ended" | "revoked";
            /**
             * @description Why it ended: `renewal_refused`, `target_gone` (410), `no_subscription` (the last one was deleted), `reopened`
             *     (an admin asked again), or the reason that the admin gave for revoking it.
             */
            endreason?: string;
            basis: components["schemas"]["GrantBasis"];
            /** @description `WebHook-Allowed-Origin` as the webhook sent it. */
            allowedorigin?: string;
            allowedrate: components["schemas"]["Rate"];
            requestedrate?: components["schemas"]["RequestedRate"];
            /** @description Codes of mistakes in the response that were tolerated. */
            warnings?: string[];
            /** @description The id of the handshake that led to it. */
            handshake?: string;
            /** @description The agreement, for example its file number. */
            reference?: string;
            /** @description Who recorded it: the client of an admin, `callback`, or `assent`. */
            recordedby?: string;
            /** @description When the consent was given. */
            grantedat: components["schemas"]["Time"];
            /** @description When it expires. */
            expiresat: components["schemas"]["Time"];
            /** @description When Assent asks the webhook again. */
            renewat?: components["schemas"]["Time"];
            /** @description When it ended. */
            endedat?: components["schemas"]["Time"];
            /** @description Who ended it: the client of an admin, `callback`, or `assent`. */
            endedby?: string;
            /** @description The end of a hold. The webhook asked senders to wait until then. */
            helduntil?: components["schemas"]["Time"];
        };
        /** @description An agreement between organisations, without a handshake. */
        GrantRequest: {
            origin: string;
            sink: string;
            allowedrate: components["schemas"]["Rate"];
            /**
             * Format: date-time
             * @description In the future, at most five years away.
             */
            expiresat: string;
            /** @description The agreement, for example its file number. */
            reference: string;
        };
        /**
         * @description What is blocked. `origin`: one system that sends events. `sink`: one URL. `host`: every URL of a host name or address.
         *     `domain`: a domain and all names below it. `network`: webhooks whose address was in this network when they gave consent;
         *     Assent does not connect to any other address in it either. `subscriber`: the subscriptions of one client. `tenant`: everything of one
         *     organisation.
         * @enum {string}
         */
        BlockKind: "origin" | "sink" | "host" | "domain" | "network" | "subscriber" | "tenant";
        /** @description What is under the block now, whether or not another block stops it as well. */
        BlockEffect: {
            /** @description The first 20 of their origins. */
            origins: string[];
            /** @description Subscriptions that have not ended. */
            subscriptions: number;
            /** @description The first 20 of their subscribers. */
            subscribers: string[];
            /** @description Live grants. For a subscriber, those that no other subscriber needs. */
            grants: number;
            /** @description Handshakes that are due, in progress or waiting for a callback. */
            handshakes: number;
        };
        /** @description Something that an admin stopped. It is in force until it is lifted, or until `expiresat`. */
        Block: {
            id: string;
            /** @description Whose deliveries are stopped. `*` is every tenant. */
            tenant: string;
            kind: components["schemas"]["BlockKind"];
            value: string;
            reason: string;
            /** @description When the block ends. */
            expiresat?: components["schemas"]["Time"];
            /** @description When it began. */
            createdat: components["schemas"]["Time"];
            /** @description The client of the admin or operator. */
            createdby: string;
            /** @description Only an operator may lift it. */
            byoperator: boolean;
            effect?: components["schemas"]["BlockEffect"];
        };
        /** @description What to stop, and why. */
        BlockRequest: {
            kind: components["schemas"]["BlockKind"];
            /**
             * @description For `origin` its name, for `sink` the URL as its subscriptions have it, for `host` a name or an address without port, for
             *     `domain` as `example.com`, for `network` as `203.0.113.0/24`, for `subscriber` a client, for `tenant` its name.
             */
            value: string;
            /** @description Consumers read it in the status of their subscriptions. */
            reason: string;
            /**
             * Format: date-time
             * @description When the block ends, in the future. Without it, when you lift it.
             */
            expiresat?: string;
            /** @description Whose deliveries to stop. Your own tenant by default; another one, or `*` for every tenant, needs `assent:block`. */
            tenant?: string;
        };
        /** @description The effect that a block would have. */
        BlockPreview: {
            tenant: string;
            kind: components["schemas"]["BlockKind"];
            value: string;
            reason: string;
            expiresat?: components["schemas"]["Time"];
            effect: components["schemas"]["BlockEffect"];
        };
        /** @description One change, who made it, and when. */
        AuditEntry: {
            id: string;
            at: components["schemas"]["Time"];
            /** @description Where the change was made. */
            tenant: string;
            /** @description The client in the token, `callback`, or `assent` for a change that the service made. */
            actor: string;
            /** @description What happened: the kind of the target, a dot, and the event. */
            action: string;
            /** @description What changed: its kind, a colon, and its id. */
            target: string;
            /** @description Whose subscription it is about, if it is about one. */
            subscriber?: string;
            /** @description The `Audit-Reference` of the request. */
            reference?: string;
            /**
             * @description The members that changed, by their names in this API. Absent if none did. A sink has no query here. A credential
             *     and the value of a header are fingerprints: equal ones are of equal secrets of one subscription.
             */
            changed?: {
                [key: string]: {
                    /** @description The value before the change, or null. */
                    before: unknown;
                    /** @description The value after it, or null. */
                    after: unknown;
                };
            };
            /** @description What else is known, such as the origin, the sink, and the `reason` that the request gave. */
            detail?: {
                [key: string]: unknown;
            };
            /** @description The `X-Request-Id` of the request that made the change, if one did. */
            requestid?: string;
        };
        /** @enum {string} */
        StatisticStep: "minute" | "hour" | "day";
        /**
         * @description `handshake`: attempts to ask a webhook, and decisions by callback. `delivery`: deliveries that senders reported.
         *     `lease`: requests that senders leased.
         * @enum {string}
         */
        StatisticKind: "handshake" | "delivery" | "lease";
        /** @description How often one thing happened, step by step. */
        StatisticSeries: {
            kind: components["schemas"]["StatisticKind"];
            /**
             * @description What is counted. A verdict for `handshake`, a kind of outcome for `delivery`. For `lease`: `leased`, the requests
             *     that leases allowed, and `allowed`, the requests that the webhooks allowed in the minutes in which a sender asked
             *     for a lease. Webhooks without a limit need no leases.
             */
            code: string;
            /**
             * @description What the verdict means. `no_answer`: the webhook decided nothing, so Assent retries. `not_asked`: Assent itself did
             *     not send the request, or did not wait for the response. Only for `handshake`.
             * @enum {string}
             */
            outcome?: "granted" | "refused" | "no_answer" | "not_asked";
            total: number;
            /** @description One number for each step, in order. */
            counts: number[];
        };
        /** @description How often something happened. */
        Statistics: {
            step: components["schemas"]["StatisticStep"];
            /** @description The beginning of the first step. */
            since: components["schemas"]["Time"];
            /** @description The end of the last step. */
            until: components["schemas"]["Time"];
            series: components["schemas"]["StatisticSeries"][];
        };
        /** @description Whether a process of the registry keeps up. */
        Health: {
            /** @description The version of Assent. */
            version: string;
            /** @description The last change that this process has read. Absent while it is loading. */
            revision?: string;
            /**
             * @description Since the memory of this process was last known to be current: the lag of its feed, matches and permissions. Below
             *     the interval at which it polls, it is current. Absent while it is loading.
             */
            secondsbehind?: number;
            /** @description How late the oldest due handshake is that could start now. Absent if the database does not respond. */
            secondslate?: number;
            /** @description Whether changes are possible. False while the database is read-only. */
            writable: boolean;
        };
    };
    responses: {
        /** @description Any other problem. */
        Problem: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                Allow: components["headers"]["Allow"];
                "Content-Language": components["headers"]["ContentLanguage"];
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:problem-type:assent:database_unavailable",
                 *       "title": "The database is unavailable.",
                 *       "status": 503,
                 *       "detail": "The database does not respond. Try again. A change may or may not have been made: repeat it with the same Idempotency-Key.",
                 *       "code": "database_unavailable",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is invalid. `faults` lists every place. */
        BadRequest: {
            headers: {
                "Content-Language": components["headers"]["ContentLanguage"];
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The token is missing or invalid. */
        Unauthenticated: {
            headers: {
                "WWW-Authenticate": components["headers"]["Authenticate"];
                "Content-Language": components["headers"]["ContentLanguage"];
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:problem-type:assent:unauthenticated",
                 *       "title": "The token is missing or invalid.",
                 *       "status": 401,
                 *       "detail": "The token has expired (exp).",
                 *       "code": "unauthenticated",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63",
                 *       "faults": [
                 *         {
                 *           "pointer": "header/authorization",
                 *           "rule": "token_expired",
                 *           "detail": "The token has expired (exp)."
                 *         }
                 *       ]
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The token's scopes do not allow this. */
        Forbidden: {
            headers: {
                "WWW-Authenticate": components["headers"]["Authenticate"];
                "Content-Language": components["headers"]["ContentLanguage"];
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:problem-type:assent:scope_missing",
                 *       "title": "The token does not allow this.",
                 *       "status": 403,
                 *       "detail": "This needs the scope assent:deliver.",
                 *       "code": "scope_missing",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The current state does not allow this. */
        Conflict: {
            headers: {
                "Content-Language": components["headers"]["ContentLanguage"];
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:problem-type:assent:idempotency_key_reused",
                 *       "title": "This Idempotency-Key was already used for another request.",
                 *       "status": 409,
                 *       "detail": "This Idempotency-Key was used for a different request.",
                 *       "code": "idempotency_key_reused",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63",
                 *       "faults": [
                 *         {
                 *           "pointer": "header/idempotency-key",
                 *           "rule": "key_reused",
                 *           "detail": "Use a new Idempotency-Key for a new request."
                 *         }
                 *       ]
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The resource does not exist, or it belongs to someone else. */
        NotFound: {
            headers: {
                "Content-Language": components["headers"]["ContentLanguage"];
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:problem-type:assent:subscription_not_found",
                 *       "title": "This subscription does not exist.",
                 *       "status": 404,
                 *       "detail": "There is no subscription with this id, or it is not yours.",
                 *       "code": "subscription_not_found",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `If-Match` does not name the current version, or `If-None-Match` does (RFC 9110 section 13.1). */
        PreconditionFailed: {
            headers: {
                "Content-Language": components["headers"]["ContentLanguage"];
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:problem-type:assent:precondition_failed",
                 *       "title": "The resource changed, so the condition of the request fails.",
                 *       "status": 412,
                 *       "detail": "The current version is \"2\". Read it and try again.",
                 *       "code": "precondition_failed",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The call granted nothing: the URL is invalid or has expired (404), a browser fetched it ahead of time (409), or any
         *     other problem. A browser gets a page.
         */
        NotGranted: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                Allow: components["headers"]["Allow"];
                "Content-Language": components["headers"]["ContentLanguage"];
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:problem-type:assent:callback_unknown",
                 *       "title": "This link is invalid or has expired.",
                 *       "status": 404,
                 *       "detail": "The callback URL may have expired, or its question was closed. The subscriber can start another handshake, which\noffers a new URL.",
                 *       "code": "callback_unknown",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        /**
         * @description The call granted nothing: the rate is malformed (`callback_rate_malformed`), it names another origin or it has no key
         *     (`invalid_request`). A browser gets a page.
         */
        MalformedGrant: {
            headers: {
                "Content-Language": components["headers"]["ContentLanguage"];
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:problem-type:assent:callback_rate_malformed",
                 *       "title": "WebHook-Allowed-Rate is malformed.",
                 *       "status": 400,
                 *       "detail": "This call changed nothing, because the rate is malformed.",
                 *       "code": "callback_rate_malformed",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63",
                 *       "faults": [
                 *         {
                 *           "pointer": "header/webhook-allowed-rate",
                 *           "rule": "rate_malformed",
                 *           "detail": "It must be a positive integer in digits, or \"*\" (webhook specification, section 4.2.2)."
                 *         }
                 *       ]
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        /**
         * @description You cannot continue from this cursor. `cursor_too_old`: changes after it were deleted. `cursor_of_other_history`: the
         *     database was restored, or failed over to a standby. Take a new snapshot.
         */
        Gone: {
            headers: {
                "Content-Language": components["headers"]["ContentLanguage"];
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:problem-type:assent:cursor_too_old",
                 *       "title": "The cursor is too old.",
                 *       "status": 410,
                 *       "detail": "The cursor is too old. Take a new snapshot and follow from its cursor.",
                 *       "code": "cursor_too_old",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description Only entries whose sink has this host. The case does not matter. */
        SinkHost: string;
        /**
         * @description Only entries whose sink contains this text, in the same case. No index helps here: each request examines a part of
         *     the entries. See `X-Search-Examined`.
         */
        SinkContains: string;
        /** @description Only entries that were created at this time or later. */
        CreatedSince: string;
        /** @description Only entries that were created before this time. */
        CreatedUntil: string;
        /**
         * @description `true` adds `X-Total-Count`. Counting costs more than a page, so ask once. The `Link` to the next page does not ask
         *     again.
         */
        Count: boolean;
        /** @description The maximum number of entries on a page. */
        Limit: number;
        /** @description Where the page starts. Take it from the `Link` header of the page before. Another list's cursor returns 400. */
        Cursor: string;
        /**
         * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
         *     neither.
         */
        AcceptLanguage: string;
        /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
        AuditReference: string;
        /**
         * @description Your name for this request. If you repeat the same request with the same key within a day, you get what the first
         *     one created (`Idempotency-Replayed: true`), and nothing new is created. Another request with the same key returns
         *     409. The order of the members in a body does not matter.
         */
        IdempotencyKey: string;
        /**
         * @description `wait=N` waits up to N seconds for the handshake before the response is sent, at most 30 (RFC 7240 section 4.3). The
         *     default is 5. `respond-async` returns immediately (section 4.1).
         */
        Prefer: string;
        /** @description The id of a subscription. Another subscriber's subscription returns 404. */
        SubscriptionId: string;
        /**
         * @description The `ETag` of the version that you want to change. If the resource has another version, the response is 412 and
         *     nothing changes.
         */
        IfMatch: string;
        /** @description The id of a handshake. */
        HandshakeId: string;
        /** @description Return only what belongs to this origin. */
        OnlyOrigin: string;
        /** @description The DNS name of the origin. */
        OriginName: string;
        /** @description The id of a grant. */
        GrantId: string;
        /** @description The id of a block. */
        BlockId: string;
    };
    requestBodies: never;
    headers: {
        /** @description The full version of this contract. */
        "API-Version": string;
        /**
         * @description The id of this request. It is the `requestid` of a problem, and it is in the log. The AuthZEN operations return the
         *     `X-Request-ID` of the request instead, if it has one.
         * @example 0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63
         */
        "X-Request-Id": string;
        /** @description Seconds to wait before you try again. */
        RetryAfter: string;
        /** @description The methods that this resource supports. Sent with 405. */
        Allow: string;
        /** @description The next page as `<...>; rel="next"` (RFC 8288). Absent on the last page. */
        Link: string;
        /**
         * @description The search examined this many entries and stopped there, so the page has fewer entries than `limit`, or none. Follow
         *     `Link` to continue. Absent if the page is full or the last one.
         */
        SearchExamined: string;
        /**
         * @description How many entries match, over all pages, such as `137`. With a plus sign, counting stopped there: `10000+` or `52+`
         *     means at least that many. It stops at 10,000 that match, or after it has examined as many entries as a page may.
         *     Present if you ask with `count=true`.
         */
        TotalCount: string;
        /**
         * @description The language of the texts in the response, `en` or `nl` (RFC 9110 section 8.5). See `Accept-Language`.
         * @example nl
         */
        ContentLanguage: string;
        /** @description How to authenticate, and the error code if the token was rejected (RFC 6750 section 3). */
        Authenticate: string;
        /** @description The path of the new resource. */
        Location: string;
        /** @description The version of the resource, for `If-Match`. The state of the handshake is not part of it. */
        ETag: string;
        /** @description `true` if this `Idempotency-Key` was used before. The request created nothing new. */
        Replayed: string;
        /**
         * @description Seconds since this process last knew that its memory was current (RFC 9111 section 5.1). Absent while it is current.
         *     It appears if the database does not respond, or if the replica that this process follows lags or has lost its
         *     primary. A snapshot is read from the database, so it has this header only for a replica. The value is 2147483648 if
         *     the age is unknown, because the replica started while its primary was away.
         */
        Age: string;
        /** @description Identifies this response, for `If-None-Match`. It changes whenever the response changes. */
        AnswerTag: string;
        /** @description The rate that the webhook allows, in requests per minute, or `*` for no limit. */
        AllowedRate: string;
        /** @description When the grant expires, in RFC 3339. */
        ExpiresAt: string;
        /**
         * @description Why the delivery may not pass, as a code. Gateways discard the body of a refusal, but can pass a header on. Absent
         *     from problems that are not about the delivery.
         */
        Reason: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getSubscriptions: {
        parameters: {
            query?: {
                /** @description Only subscriptions with this `source`. */
                source?: string;
                /** @description Only subscriptions whose `types` include this type. */
                type?: string;
                /** @description Only subscriptions with this `subject`. */
                subject?: string;
                /** @description Only subscriptions with this sink. */
                sink?: string;
                /** @description Only entries whose sink has this host. The case does not matter. */
                host?: components["parameters"]["SinkHost"];
                /**
                 * @description Only entries whose sink contains this text, in the same case. No index helps here: each request examines a part of
                 *     the entries. See `X-Search-Examined`.
                 */
                sinkcontains?: components["parameters"]["SinkContains"];
                /** @description Only subscriptions for this origin. */
                origin?: string;
                /** @description Only subscriptions of this client. */
                subscriber?: string;
                /** @description Only subscriptions that have this status now. */
                status?: components["schemas"]["SubscriptionStatus"];
                /**
                 * @description Only subscriptions whose `statusdetails` have this `reason` now, for example `origin_mismatch`. An unknown
                 *     reason returns 400.
                 */
                reason?: string;
                /** @description Only entries that were created at this time or later. */
                createdsince?: components["parameters"]["CreatedSince"];
                /** @description Only entries that were created before this time. */
                createduntil?: components["parameters"]["CreatedUntil"];
                /**
                 * @description `true` adds `X-Total-Count`. Counting costs more than a page, so ask once. The `Link` to the next page does not ask
                 *     again.
                 */
                count?: components["parameters"]["Count"];
                /** @description The maximum number of entries on a page. */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page starts. Take it from the `Link` header of the page before. Another list's cursor returns 400. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of subscriptions. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    "X-Search-Examined": components["headers"]["SearchExamined"];
                    "X-Total-Count": components["headers"]["TotalCount"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    createSubscription: {
        parameters: {
            query?: never;
            header?: {
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description Your name for this request. If you repeat the same request with the same key within a day, you get what the first
                 *     one created (`Idempotency-Replayed: true`), and nothing new is created. Another request with the same key returns
                 *     409. The order of the members in a body does not matter.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description `wait=N` waits up to N seconds for the handshake before the response is sent, at most 30 (RFC 7240 section 4.3). The
                 *     default is 5. `respond-async` returns immediately (section 4.1).
                 */
                Prefer?: components["parameters"]["Prefer"];
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriptionRegistration"];
            };
        };
        responses: {
            /** @description The subscription was registered. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Replayed"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /**
             * @description `scope_missing`: the token's scopes do not allow this. `quota_exceeded`: the tenant has reached its quota of
             *     subscriptions. `filters_too_expensive`: the filters cost more than the subscriber or the tenant may use.
             *     `subscription_not_allowed`: the rules of the origin do not allow the subscriber every event that the subscription
             *     could match. A change can fail in the same way, and for the last reason so can resuming.
             */
            403: {
                headers: {
                    "WWW-Authenticate": components["headers"]["Authenticate"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: components["responses"]["Conflict"];
            default: components["responses"]["Problem"];
        };
    };
    getSubscription: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["Problem"];
        };
    };
    updateSubscription: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description The `ETag` of the version that you want to change. If the resource has another version, the response is 412 and
                 *     nothing changes.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
                /**
                 * @description `wait=N` waits up to N seconds for the handshake before the response is sent, at most 30 (RFC 7240 section 4.3). The
                 *     default is 5. `respond-async` returns immediately (section 4.1).
                 */
                Prefer?: components["parameters"]["Prefer"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriptionRequest"];
            };
        };
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    deleteSubscription: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description The `ETag` of the version that you want to change. If the resource has another version, the response is 412 and
                 *     nothing changes.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    patchSubscription: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description The `ETag` of the version that you want to change. If the resource has another version, the response is 412 and
                 *     nothing changes.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
                /**
                 * @description `wait=N` waits up to N seconds for the handshake before the response is sent, at most 30 (RFC 7240 section 4.3). The
                 *     default is 5. `respond-async` returns immediately (section 4.1).
                 */
                Prefer?: components["parameters"]["Prefer"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/merge-patch+json": components["schemas"]["SubscriptionPatch"];
            };
        };
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    suspendSubscription: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description The `ETag` of the version that you want to change. If the resource has another version, the response is 412 and
                 *     nothing changes.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description The suspended subscription. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    resumeSubscription: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description The `ETag` of the version that you want to change. If the resource has another version, the response is 412 and
                 *     nothing changes.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
                /**
                 * @description `wait=N` waits up to N seconds for the handshake before the response is sent, at most 30 (RFC 7240 section 4.3). The
                 *     default is 5. `respond-async` returns immediately (section 4.1).
                 */
                Prefer?: components["parameters"]["Prefer"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /**
             * @description The token's scopes do not allow this (`scope_missing`), an admin suspended the subscription
             *     (`suspended_by_admin`), or the rules of the origin no longer allow it (`subscription_not_allowed`).
             */
            403: {
                headers: {
                    "WWW-Authenticate": components["headers"]["Authenticate"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:problem-type:assent:suspended_by_admin",
                     *       "title": "An admin suspended this subscription.",
                     *       "status": 403,
                     *       "detail": "An admin suspended this subscription, and only an admin can resume it.",
                     *       "code": "suspended_by_admin",
                     *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63"
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: components["responses"]["NotFound"];
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    getHandshakes: {
        parameters: {
            query?: {
                /** @description The maximum number of entries on a page. */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page starts. Take it from the `Link` header of the page before. Another list's cursor returns 400. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of handshakes. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Handshake"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["Problem"];
        };
    };
    startHandshake: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description Your name for this request. If you repeat the same request with the same key within a day, you get what the first
                 *     one created (`Idempotency-Replayed: true`), and nothing new is created. Another request with the same key returns
                 *     409. The order of the members in a body does not matter.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description `wait=N` waits up to N seconds for the handshake before the response is sent, at most 30 (RFC 7240 section 4.3). The
                 *     default is 5. `respond-async` returns immediately (section 4.1).
                 */
                Prefer?: components["parameters"]["Prefer"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The handshake with its attempts so far. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Replayed"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Handshake"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            default: components["responses"]["Problem"];
        };
    };
    getHandshake: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
                /** @description The id of a handshake. */
                handshake: components["parameters"]["HandshakeId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The handshake with every attempt. */
            200: {
                headers: {
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Handshake"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["Problem"];
        };
    };
    getDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The id of a subscription. Another subscriber's subscription returns 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts and the current state. */
            200: {
                headers: {
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deliveries"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["Problem"];
        };
    };
    testFilter: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FilterTest"];
            };
        };
        responses: {
            /** @description Whether the event matches. */
            200: {
                headers: {
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FilterTestAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["Problem"];
        };
    };
    grantByGet: {
        parameters: {
            query: {
                /** @description The secret key of the callback URL. */
                key: string;
            };
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
                /**
                 * @description The origin that asked, or `*`. Absent means the same. If it names another origin, the call grants nothing
                 *     (webhook specification, section 4.2.1).
                 */
                "WebHook-Allowed-Origin"?: string;
                /**
                 * @description Requests per minute, or `*` (webhook specification, section 4.2.2). Absent means the requested rate, or the
                 *     origin's default rate if none was requested.
                 */
                "WebHook-Allowed-Rate"?: string;
            };
            path: {
                /** @description The id of a handshake. */
                handshake: components["parameters"]["HandshakeId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The decision, or the page. */
            200: {
                headers: {
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackDecision"];
                    "text/html": string;
                };
            };
            400: components["responses"]["MalformedGrant"];
            404: components["responses"]["NotGranted"];
            default: components["responses"]["NotGranted"];
        };
    };
    grantByPost: {
        parameters: {
            query: {
                /** @description The secret key of the callback URL. */
                key: string;
            };
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
                /**
                 * @description The origin that asked, or `*`. Absent means the same. If it names another origin, the call grants nothing
                 *     (webhook specification, section 4.2.1).
                 */
                "WebHook-Allowed-Origin"?: string;
                /**
                 * @description Requests per minute, or `*` (webhook specification, section 4.2.2). Absent means the requested rate, or the
                 *     origin's default rate if none was requested.
                 */
                "WebHook-Allowed-Rate"?: string;
            };
            path: {
                /** @description The id of a handshake. */
                handshake: components["parameters"]["HandshakeId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["CallbackForm"];
            };
        };
        responses: {
            /** @description The decision, or the page. */
            200: {
                headers: {
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallbackDecision"];
                    "text/html": string;
                };
            };
            400: components["responses"]["MalformedGrant"];
            404: components["responses"]["NotGranted"];
            default: components["responses"]["NotGranted"];
        };
    };
    matchEvent: {
        parameters: {
            query?: {
                /** @description The origin of the event. If absent, the tenant's default origin. */
                origin?: string;
                /**
                 * @description Also explain why each subscription matched or not. Admins see all subscriptions, consumers their own. A response
                 *     has at most 1,000 explanations, of the oldest subscriptions. The events of a batch share them evenly.
                 */
                explain?: boolean;
                /** @description Wait up to five seconds until this process knows this revision. */
                minRevision?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/cloudevents+json": components["schemas"]["CloudEvent"];
                "application/cloudevents-batch+json": components["schemas"]["CloudEvent"][];
                "*/*": unknown;
            };
        };
        responses: {
            /** @description The sinks. */
            200: {
                headers: {
                    Age: components["headers"]["Age"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MatchAnswer"] | components["schemas"]["BatchAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description The filters need more steps than one message may use (`match_too_expensive`). */
            422: {
                headers: {
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:problem-type:assent:match_too_expensive",
                     *       "title": "The filters need too many steps for this message.",
                     *       "status": 422,
                     *       "detail": "The filters need more than 500,000,000 steps for this message. Those of subscription\n0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f need the most. Send fewer events at once, or shorter attributes.\n",
                     *       "code": "match_too_expensive",
                     *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63",
                     *       "faults": [
                     *         {
                     *           "pointer": "subscription/0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f",
                     *           "rule": "too_expensive",
                     *           "detail": "Its filters took 410,000,000 steps, more than those of any other subscription."
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    validateEvent: {
        parameters: {
            query?: {
                /** @description The profile to check. `cloudevents` if absent. */
                profile?: components["schemas"]["Profile"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/cloudevents+json": components["schemas"]["CloudEvent"];
                "application/cloudevents-batch+json": components["schemas"]["CloudEvent"][];
                "*/*": unknown;
            };
        };
        responses: {
            /** @description The faults and warnings of each event. */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Validation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    getPermission: {
        parameters: {
            query: {
                /** @description The origin. */
                origin: string;
                /** @description The exact URL that the origin would send to. */
                sink: string;
            };
            header?: {
                /**
                 * @description The `ETag` of a response that you keep. If nothing changed, the response is 304 without a body (RFC 9110
                 *     section 13.1.2).
                 */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The permission, given or not. */
            200: {
                headers: {
                    ETag: components["headers"]["AnswerTag"];
                    Age: components["headers"]["Age"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Permission"];
                };
            };
            /** @description Nothing changed since the response with that `ETag`. */
            304: {
                headers: {
                    ETag: components["headers"]["AnswerTag"];
                    Age: components["headers"]["Age"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    getPermissions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PermissionQuestion"][];
            };
        };
        responses: {
            /** @description One permission for each pair, in order. */
            200: {
                headers: {
                    Age: components["headers"]["Age"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Permission"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    authorizeDelivery: {
        parameters: {
            query?: {
                /** @description The origin, if the request has no `WebHook-Request-Origin`. */
                origin?: string;
                /** @description The exact URL that the delivery goes to, if no header has it. */
                sink?: string;
            };
            header?: {
                /** @description The origin, as the delivery has it. */
                "WebHook-Request-Origin"?: string;
                /** @description The URL that the delivery goes to, with scheme and host. */
                "X-Original-URL"?: string;
                /** @description The scheme that the delivery uses. */
                "X-Forwarded-Proto"?: string;
                /** @description The host that the delivery goes to. */
                "X-Forwarded-Host"?: string;
                /** @description The path and the query that the delivery goes to. */
                "X-Forwarded-Uri"?: string;
                /**
                 * @description `true` counts the delivery against the rate, across all gateways and instances of the sender. If nothing is
                 *     left now, the response is 429.
                 */
                "Assent-Lease"?: "true" | "false";
                /**
                 * @description `Bearer` and the token, for gateways that can't replace the delivery's own `Authorization`. A request with both
                 *     headers is refused.
                 */
                "Assent-Authorization"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery may pass. Only for paths below. */
            200: {
                headers: {
                    "Assent-Allowed-Rate": components["headers"]["AllowedRate"];
                    "Assent-Expires-At": components["headers"]["ExpiresAt"];
                    Age: components["headers"]["Age"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The delivery may pass. */
            204: {
                headers: {
                    "Assent-Allowed-Rate": components["headers"]["AllowedRate"];
                    "Assent-Expires-At": components["headers"]["ExpiresAt"];
                    Age: components["headers"]["Age"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /**
             * @description The delivery may not pass (`not_permitted`), or the token's scopes do not allow this (`scope_missing`). The `rule`
             *     of the fault, also in `Assent-Reason`, is the `reason` that `GET /permissions` returns, or names the doubt.
             */
            403: {
                headers: {
                    "WWW-Authenticate": components["headers"]["Authenticate"];
                    "Assent-Reason": components["headers"]["Reason"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:problem-type:assent:not_permitted",
                     *       "title": "The origin has no permission to send to this sink.",
                     *       "status": 403,
                     *       "detail": "An admin revoked this grant.",
                     *       "code": "not_permitted",
                     *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63",
                     *       "faults": [
                     *         {
                     *           "pointer": "sink",
                     *           "rule": "revoked",
                     *           "detail": "An admin revoked this grant."
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The rate is used up for now. Only if a lease was asked for. */
            429: {
                headers: {
                    "Assent-Reason": components["headers"]["Reason"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:problem-type:assent:rate_used_up",
                     *       "title": "The rate is used up for now.",
                     *       "status": 429,
                     *       "detail": "The webhook allows 60 requests per minute. Send later.",
                     *       "code": "rate_used_up",
                     *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63",
                     *       "faults": [
                     *         {
                     *           "pointer": "sink",
                     *           "rule": "rate_used_up",
                     *           "detail": "The webhook allows 60 requests per minute. Send later."
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    evaluateAccess: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccessRequest"];
            };
        };
        responses: {
            /** @description The decision. */
            200: {
                headers: {
                    Age: components["headers"]["Age"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessDecision"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    evaluateAccesses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccessRequests"];
            };
        };
        responses: {
            /**
             * @description One decision for each entry, in order, up to the one that ends the evaluation; or one decision, without
             *     `evaluations` in the request.
             */
            200: {
                headers: {
                    Age: components["headers"]["Age"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessDecisions"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    takeLease: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseRequest"];
            };
        };
        responses: {
            /** @description No requests are free now, or the rate is unlimited and you need no lease. */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lease"];
                };
            };
            /** @description A lease. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lease"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /**
             * @description The token's scopes do not allow this (`scope_missing`), or the origin may not send to the sink
             *     (`not_permitted`). The `rule` of the fault at `/sink` is the `reason` that `GET /permissions` returns.
             */
            403: {
                headers: {
                    "WWW-Authenticate": components["headers"]["Authenticate"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:problem-type:assent:not_permitted",
                     *       "title": "The origin has no permission to send to this sink.",
                     *       "status": 403,
                     *       "detail": "An admin revoked the grant.",
                     *       "code": "not_permitted",
                     *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63",
                     *       "faults": [
                     *         {
                     *           "pointer": "/sink",
                     *           "rule": "revoked",
                     *           "detail": "An admin revoked the grant."
                     *         }
                     *       ]
                     *     }
                     */
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    returnLease: {
        parameters: {
            query: {
                /**
                 * @description The number of requests that were not sent and will not be sent. The lease ends, and the other requests count as
                 *     sent.
                 */
                unused: number;
            };
            header?: never;
            path: {
                /** @description The `lease` member of the response to `POST /leases`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number of requests that came back. */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReturnedLease"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["Problem"];
        };
    };
    reportOutcomes: {
        parameters: {
            query?: never;
            header?: {
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description Your name for this request. If you repeat the same request with the same key within a day, you get what the first
                 *     one created (`Idempotency-Replayed: true`), and nothing new is created. Another request with the same key returns
                 *     409. The order of the members in a body does not matter.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Outcome"][];
            };
        };
        responses: {
            /** @description One result for each entry, in order. */
            200: {
                headers: {
                    "Idempotency-Replayed": components["headers"]["Replayed"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutcomeResult"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            default: components["responses"]["Problem"];
        };
    };
    getSnapshot: {
        parameters: {
            query?: {
                /** @description Return only what belongs to this origin. */
                origin?: components["parameters"]["OnlyOrigin"];
                /** @description Adds `status`, `reason` and `handshake` to each subscription, for programs that report them. It takes longer. */
                status?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description JSON lines. The schema describes one line. */
            200: {
                headers: {
                    Age: components["headers"]["Age"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": components["schemas"]["SnapshotLine"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    getChanges: {
        parameters: {
            query?: {
                /**
                 * @description The cursor to continue from. If absent, the current end: the first page is empty and has a cursor. A cursor that
                 *     was issued for one `origin` works with that origin only. With another origin, or with none, the response is 400
                 *     (`cursor_of_other_origin`), because you would miss changes.
                 */
                after?: string;
                /** @description Return only what belongs to this origin. */
                origin?: components["parameters"]["OnlyOrigin"];
                /** @description The maximum number of changes on a page. A page can have fewer although there are more. */
                limit?: number;
                /** @description Seconds to wait for a change if there is none. A stream always waits. */
                wait?: number;
                /**
                 * @description Adds `subscriptions` to each change for senders and admins: the present status of the subscriptions that it is
                 *     about. For programs that report it. It takes longer.
                 */
                status?: boolean;
            };
            header?: {
                /** @description The id of the last event that your stream received. It replaces `after`. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes. */
            200: {
                headers: {
                    Age: components["headers"]["Age"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangePage"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["Gone"];
            default: components["responses"]["Problem"];
        };
    };
    getOrigins: {
        parameters: {
            query?: {
                /** @description The maximum number of entries on a page. */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page starts. Take it from the `Link` header of the page before. Another list's cursor returns 400. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of origins, sorted by name. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Origin"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    createOrigin: {
        parameters: {
            query?: never;
            header?: {
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description Your name for this request. If you repeat the same request with the same key within a day, you get what the first
                 *     one created (`Idempotency-Replayed: true`), and nothing new is created. Another request with the same key returns
                 *     409. The order of the members in a body does not matter.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OriginRequest"];
            };
        };
        responses: {
            /** @description The origin was registered. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Replayed"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Origin"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            default: components["responses"]["Problem"];
        };
    };
    getOrigin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The DNS name of the origin. */
                name: components["parameters"]["OriginName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The origin. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Origin"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["Problem"];
        };
    };
    updateOrigin: {
        parameters: {
            query?: never;
            header?: {
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description The `ETag` of the version that you want to change. If the resource has another version, the response is 412 and
                 *     nothing changes.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The DNS name of the origin. */
                name: components["parameters"]["OriginName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OriginSettings"];
            };
        };
        responses: {
            /** @description The origin. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Origin"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    deleteOrigin: {
        parameters: {
            query?: never;
            header?: {
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description The `ETag` of the version that you want to change. If the resource has another version, the response is 412 and
                 *     nothing changes.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The DNS name of the origin. */
                name: components["parameters"]["OriginName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The origin. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Origin"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    patchOrigin: {
        parameters: {
            query?: never;
            header?: {
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description The `ETag` of the version that you want to change. If the resource has another version, the response is 412 and
                 *     nothing changes.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The DNS name of the origin. */
                name: components["parameters"]["OriginName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/merge-patch+json": components["schemas"]["OriginPatch"];
            };
        };
        responses: {
            /** @description The origin. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Origin"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    checkSubscriptionRules: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path: {
                /** @description The DNS name of the origin. */
                name: components["parameters"]["OriginName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RuleCheck"];
            };
        };
        responses: {
            /** @description The subscriptions that the rules refuse. */
            200: {
                headers: {
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleCheckResult"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["Problem"];
        };
    };
    getGrants: {
        parameters: {
            query?: {
                /** @description Only grants of this origin. */
                origin?: string;
                /** @description Only grants for this sink. */
                sink?: string;
                /** @description Only entries whose sink has this host. The case does not matter. */
                host?: components["parameters"]["SinkHost"];
                /**
                 * @description Only entries whose sink contains this text, in the same case. No index helps here: each request examines a part of
                 *     the entries. See `X-Search-Examined`.
                 */
                sinkcontains?: components["parameters"]["SinkContains"];
                /** @description Only grants whose origin and sink a subscription of this client has. For admins. */
                subscriber?: string;
                /** @description Only grants that are in this state now. */
                state?: "live" | "expired" | "blocked" | "ended" | "revoked";
                /** @description Only grants on this basis. */
                basis?: components["schemas"]["GrantBasis"];
                /** @description Only grants whose `expiresat` is before this time. Combine it with `state=live` for grants that expire soon. */
                expiresuntil?: string;
                /** @description `false`: only grants that Assent will not renew, because they have no `renewat`. `true`: only the others. */
                renews?: boolean;
                /**
                 * @description `true`: only grants on hold now, because a webhook asked senders to wait until `helduntil`. `false`: only the
                 *     others.
                 */
                held?: boolean;
                /**
                 * @description `true` adds `X-Total-Count`. Counting costs more than a page, so ask once. The `Link` to the next page does not ask
                 *     again.
                 */
                count?: components["parameters"]["Count"];
                /** @description The maximum number of entries on a page. */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page starts. Take it from the `Link` header of the page before. Another list's cursor returns 400. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of grants. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    "X-Search-Examined": components["headers"]["SearchExamined"];
                    "X-Total-Count": components["headers"]["TotalCount"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grant"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    createGrant: {
        parameters: {
            query?: never;
            header?: {
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description Your name for this request. If you repeat the same request with the same key within a day, you get what the first
                 *     one created (`Idempotency-Replayed: true`), and nothing new is created. Another request with the same key returns
                 *     409. The order of the members in a body does not matter.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GrantRequest"];
            };
        };
        responses: {
            /** @description The agreement was recorded. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Replayed"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grant"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            default: components["responses"]["Problem"];
        };
    };
    getGrant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a grant. */
                id: components["parameters"]["GrantId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The grant. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grant"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["Problem"];
        };
    };
    revokeGrant: {
        parameters: {
            query?: never;
            header?: {
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description The `ETag` of the version that you want to change. If the resource has another version, the response is 412 and
                 *     nothing changes.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of a grant. */
                id: components["parameters"]["GrantId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description The revoked grant. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grant"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    releaseGrant: {
        parameters: {
            query?: never;
            header?: {
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
                /**
                 * @description The `ETag` of the version that you want to change. If the resource has another version, the response is 412 and
                 *     nothing changes.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of a grant. */
                id: components["parameters"]["GrantId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The grant without a hold. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grant"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    getBlocks: {
        parameters: {
            query?: {
                /** @description Only blocks of this kind. */
                kind?: components["schemas"]["BlockKind"];
                /** @description Only blocks with exactly this value. */
                value?: string;
                /** @description The maximum number of entries on a page. */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page starts. Take it from the `Link` header of the page before. Another list's cursor returns 400. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of blocks. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Block"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    createBlock: {
        parameters: {
            query?: {
                /** @description Whether to return the effect without blocking anything. */
                dryrun?: boolean;
            };
            header?: {
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlockRequest"];
            };
        };
        responses: {
            /** @description What the block would stop, for `dryrun=true`. */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlockPreview"];
                };
            };
            /** @description The block is in force. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Block"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    getBlock: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a block. */
                id: components["parameters"]["BlockId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The block. */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Block"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["Problem"];
        };
    };
    liftBlock: {
        parameters: {
            query?: never;
            header?: {
                /** @description What the change belongs to, such as the number of a ticket. It is the `reference` of its entries in the audit record. */
                "Audit-Reference"?: components["parameters"]["AuditReference"];
            };
            path: {
                /** @description The id of a block. */
                id: components["parameters"]["BlockId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The block that was lifted. */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Block"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            default: components["responses"]["Problem"];
        };
    };
    findHandshakes: {
        parameters: {
            query?: {
                /** @description Only handshakes for this origin. */
                origin?: string;
                /** @description Only handshakes with this sink. */
                sink?: string;
                /** @description Only entries whose sink has this host. The case does not matter. */
                host?: components["parameters"]["SinkHost"];
                /**
                 * @description Only entries whose sink contains this text, in the same case. No index helps here: each request examines a part of
                 *     the entries. See `X-Search-Examined`.
                 */
                sinkcontains?: components["parameters"]["SinkContains"];
                /** @description Only handshakes that a subscription of this client has: its own, and renewals for its origin and sink. */
                subscriber?: string;
                /** @description Only handshakes that are in this state now. */
                state?: components["schemas"]["HandshakeState"];
                /** @description Only handshakes with this verdict, for example `origin_mismatch`. An unknown verdict returns 400. */
                verdict?: string;
                /** @description Only handshakes that Assent started for this reason. */
                reason?: components["schemas"]["HandshakeReason"];
                /** @description Only entries that were created at this time or later. */
                createdsince?: components["parameters"]["CreatedSince"];
                /** @description Only entries that were created before this time. */
                createduntil?: components["parameters"]["CreatedUntil"];
                /**
                 * @description `true` adds `X-Total-Count`. Counting costs more than a page, so ask once. The `Link` to the next page does not ask
                 *     again.
                 */
                count?: components["parameters"]["Count"];
                /** @description The maximum number of entries on a page. */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page starts. Take it from the `Link` header of the page before. Another list's cursor returns 400. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /**
                 * @description The language of verdicts, messages and advice (RFC 9110 section 12.5.4): English or Dutch. English if you prefer
                 *     neither.
                 */
                "Accept-Language"?: components["parameters"]["AcceptLanguage"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of handshakes. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    "X-Search-Examined": components["headers"]["SearchExamined"];
                    "X-Total-Count": components["headers"]["TotalCount"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Handshake"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    getAudit: {
        parameters: {
            query?: {
                /** @description Only changes at this time or later. */
                since?: components["schemas"]["Time"];
                /** @description Only changes before this time. */
                until?: components["schemas"]["Time"];
                /** @description Only this action, for example `grant.revoked`. With a dot at the end, every action that starts with it. */
                action?: string;
                /** @description Only changes by this actor. */
                actor?: string;
                /** @description Only changes of this target, for example `subscription:` and an id. */
                target?: string;
                /** @description Only changes of this client's subscriptions, and their handshakes, by any actor. */
                subscriber?: string;
                /** @description Only changes in this tenant. Another tenant than your own needs `assent:audit`, and an issuer that may name it. */
                tenant?: string;
                /** @description The maximum number of entries on a page. An export has no limit. */
                limit?: number;
                /** @description Where the page starts. Take it from the `Link` header of the page before. Another list's cursor returns 400. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries, or an export. The schema of JSON lines describes one line. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntry"][];
                    "application/jsonl": components["schemas"]["AuditEntry"];
                    "text/csv": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    getStatistics: {
        parameters: {
            query?: {
                /** @description How much time one number covers. An hour by default. */
                step?: components["schemas"]["StatisticStep"];
                /**
                 * @description From the beginning of the step that contains this time. By default an hour of minutes, a day of hours or 30 days
                 *     before `until`. At most 1,500 steps.
                 */
                since?: string;
                /** @description To the end of the step that contains this time. By default now. */
                until?: string;
                /** @description Only series of this kind. */
                kind?: components["schemas"]["StatisticKind"];
                /** @description Only what happened for this origin. */
                origin?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The series. */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statistics"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state of the process that responds. */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    askWebhook: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The origin that wants to send, as a DNS name.
                 * @example eventemitter.example.com
                 */
                "WebHook-Request-Origin": string;
                /**
                 * @description How many requests per minute it wants to send.
                 * @example 120
                 */
                "WebHook-Request-Rate"?: string;
                /** @description Where you can give consent later, with GET or POST, if you do not decide now. */
                "WebHook-Request-Callback"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Consent, if `WebHook-Allowed-Origin` names the origin or is `*`. Without it, no consent. */
            200: {
                headers: {
                    /** @description The origin that may send, or `*` for every origin. */
                    "WebHook-Allowed-Origin"?: string;
                    /** @description Requests per minute that you allow, or `*` for no limit. Required if a rate was requested. */
                    "WebHook-Allowed-Rate"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description The same headers count with any other status. 410 means that the webhook is retired. After 429 and 503 Assent asks
             *     again later, not before `Retry-After`.
             */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receiveNotice: {
        parameters: {
            query?: never;
            header: {
                /** @description The origin of the notices (webhook specification, section 2.1). */
                "WebHook-Request-Origin": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/cloudevents+json": {
                    /** @constant */
                    specversion: "1.0";
                    /** @description The same for each repetition of this notice. */
                    id: string;
                    /** @description The URL of the registry, or what its operator chose. */
                    source: string;
                    /**
                     * @description What happened, with a prefix if the operator chose one. `subscription.expiring`: the grant expires soon, and no
                     *     renewal has succeeded. `grant.held`: the webhook asked senders to wait. A later version may add types.
                     * @example subscription.active
                     * @example subscription.refused
                     * @example subscription.unreachable
                     * @example subscription.expiring
                     * @example subscription.expired
                     * @example subscription.retired
                     * @example subscription.suspended
                     * @example subscription.blocked
                     * @example subscription.deleted
                     * @example grant.held
                     * @example grant.released
                     */
                    type: string;
                    /** @description The id of the subscription. */
                    subject: string;
                    time: components["schemas"]["Time"];
                    /** @constant */
                    datacontenttype: "application/json";
                    data: {
                        subscription: string;
                        origin: string;
                        sink: string;
                        /** @description The status right after the change; `deleted` if the subscription is gone. */
                        status: string;
                        /** @description The same code as in `statusdetails`. */
                        reason: string;
                        /** @description For people, in the language that the operator chose. */
                        message: string;
                        /** @description What the webhook owner can change. */
                        advice?: string;
                        /** @description What happens next. */
                        next?: string;
                        expiresat?: components["schemas"]["Time"];
                        helduntil?: components["schemas"]["Time"];
                    };
                };
            };
        };
        responses: {
            /** @description You have it. Any other 2xx says the same. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description 410 ends the consent. Other 4xx, except 401, 408 and 429, and redirects drop this notice. Everything else is tried again. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
