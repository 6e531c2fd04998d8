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
         * List subscriptions.
         * @description Subscribers see their own, admins those of the tenant; oldest first. `warnings` are in the answers to one
         *     subscription only.
         */
        get: operations["getSubscriptions"];
        put?: never;
        /**
         * Register a subscription and ask its webhook for permission.
         * @description The subscription is stored, then the webhook is asked; the answer waits for that as long as `Prefer` says. It is
         *     201 with the present status, whatever the webhook said.
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
            header?: never;
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        /** Read a subscription. */
        get: operations["getSubscription"];
        /**
         * Replace a subscription.
         * @description Another sink, origin or `requestedrate` is another question, so the webhook is asked anew; not while the
         *     subscription is suspended. Other members change at once.
         */
        put: operations["updateSubscription"];
        post?: never;
        /**
         * Delete a subscription.
         * @description The last subscription of an origin to a sink takes the grant with it, unless that is based on an agreement. The
         *     answer is the subscription as it was.
         */
        delete: operations["deleteSubscription"];
        options?: never;
        head?: never;
        /**
         * Change some members of a subscription.
         * @description As replacing it with what the patch makes of it.
         */
        patch: operations["patchSubscription"];
        trace?: never;
    };
    "/subscriptions/{id}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop deliveries for a while.
         * @description Its webhook is not asked meanwhile. A handshake that is due waits until the subscription is resumed.
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
            header?: never;
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Go on after a suspension.
         * @description If the consent ran out meanwhile, or another rate, sink or origin was named, the webhook is asked. What an admin suspended, only an admin resumes.
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
            header?: never;
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        /**
         * List the handshakes of a subscription.
         * @description Newest first, with every attempt.
         */
        get: operations["getHandshakes"];
        put?: never;
        /**
         * Ask the webhook again.
         * @description A handshake that is still waiting for its next attempt is tried now instead, but not before the `Retry-After` that
         *     the webhook named, for whichever subscription of the origin and the sink. For a suspended subscription it waits to
         *     be resumed. Once an admin revoked the grant, only an admin can ask again.
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
            header?: never;
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
                /** @description The id of a handshake. */
                handshake: components["parameters"]["HandshakeId"];
            };
            cookie?: never;
        };
        /** Read a handshake. */
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
            header?: never;
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        /**
         * How deliveries to a subscription's sink go.
         * @description What senders reported of the subscription's origin and sink, which it may share with other subscriptions, and what
         *     to change if deliveries fail. The status code of the webhook is for admins.
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
    "/callbacks/{handshake}": {
        parameters: {
            query: {
                /** @description The secret of the callback URL. */
                key: string;
            };
            header?: {
                /** @description The origin that asked, or `*`; absent means the same. The permission is not given if it is another one. */
                "WebHook-Allowed-Origin"?: string;
                /** @description Requests per minute, or `*`. Absent means the rate that was asked for, or the origin's default where none was. */
                "WebHook-Allowed-Rate"?: string;
            };
            path: {
                /** @description The id of a handshake. */
                handshake: components["parameters"]["HandshakeId"];
            };
            cookie?: never;
        };
        /**
         * Grant permission by opening the callback URL.
         * @description What a webhook, or a person with its log, calls to grant permission (webhook specification, section 4.1.3). The
         *     first decision counts; later calls get it as well and change nothing. A client that prefers `text/html`, as browsers
         *     and mail scanners do, gets a page that says who asks and for what, with a form to allow or to refuse: its GET
         *     changes nothing. What a browser fetches ahead of time decides nothing (409).
         */
        get: operations["grantByGet"];
        put?: never;
        /**
         * Grant or refuse permission by posting to the callback URL.
         * @description As GET. A form with a `decision` counts from any client, so that a program can refuse; without one, a client that
         *     prefers `text/html` gets the page, and any other grants. A body of another media type is not read. A refusal ends the
         *     question, its callback URL and, if it is a renewal, the permission that was to be renewed.
         */
        post: operations["grantByPost"];
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
         * May this origin send to this sink?
         * @description What is not the name of an origin, or not a sink in canonical form, is refused with its place.
         */
        get: operations["getPermission"];
        put?: never;
        /**
         * Ask for many pairs at once.
         * @description Each pair has its own answer; what can be no pair has the reason `no_grant`.
         */
        post: operations["getPermissions"];
        delete?: never;
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
         * Report what became of deliveries.
         * @description Each entry stands for itself: one that breaks a rule spoils no other. 2xx ends a series of failures. 410 retires
         *     the webhook when it comes as often in a row as the origin's `goneafter` says: the grant ends, and so do
         *     agreements. 429, and 503 with `Retry-After`, make every sender hold back. The others are counted,
         *     and shown to the subscribers with advice.
         */
        post: operations["reportOutcomes"];
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
         * Take a share of a rate.
         * @description A rate is granted to the origin as a whole. Each instance of its sender takes a share before it sends: so many
         *     requests within the next seconds. Over all instances, no more than the rate is sent in any 60 seconds. What an
         *     instance does not send it can hand back; what it neither sends nor hands back is free again a minute later.
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
                /** @description The `lease` of the answer that gave it. */
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Hand back what was not sent. */
        delete: operations["returnLease"];
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
        /** List grants. */
        get: operations["getGrants"];
        put?: never;
        /**
         * Record a grant by agreement.
         * @description For consent that organisations gave each other without a handshake. It takes the place of the present grant of
         *     this origin and sink, revoked or not.
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
        /** Read a grant. */
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
         * Take a grant away.
         * @description Open handshakes of the pair end and their callbacks become unknown. Nobody but an admin can bring it back: by
         *     asking the webhook again, or by recording an agreement.
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
         * End a hold.
         * @description Senders may send again before the hold that the webhook asked for is over. Without a hold, nothing changes.
         */
        post: operations["releaseGrant"];
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
        /** List the sending systems of the tenant. */
        get: operations["getOrigins"];
        put?: never;
        /** Register a sending system. */
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
                /** @description The DNS expression of the sending system. */
                name: components["parameters"]["OriginName"];
            };
            cookie?: never;
        };
        /** Read a sending system. */
        get: operations["getOrigin"];
        /**
         * Replace the policy of a sending system.
         * @description It holds for handshakes from now on; grants stay as they are until they are renewed.
         */
        put: operations["updateOrigin"];
        post?: never;
        /**
         * Remove a sending system.
         * @description Only when no subscription names it any more; its grants end with it.
         */
        delete: operations["deleteOrigin"];
        options?: never;
        head?: never;
        /** Change some of the policy of a sending system. */
        patch: operations["patchOrigin"];
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
         * Which webhooks get this event?
         * @description A CloudEvent in structured, batched or binary content mode (HTTP protocol binding, section 3). Only context
         *     attributes decide, so the data may be left out. Only deliverable subscriptions are in the answer, each sink once.
         *     An event that breaks a MUST of the origin's profile is refused with every fault; in a batch the others are
         *     answered. A message has 1 MiB at the most, and a batch 100 events, unless the registry is set otherwise.
         *     If the filters take more steps for a message than the registry allows, the answer is `match_too_expensive`, with
         *     the subscription that took most: nothing was matched then.
         */
        post: operations["matchEvent"];
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
         * Would this filter, or this subscription, match this event?
         * @description Nothing is stored, and no consent is looked at.
         */
        post: operations["testFilter"];
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
         * Does this event keep a profile?
         * @description For build pipelines. The event comes in any content mode, alone or in a batch, as large as for a match; nothing is
         *     matched and nothing is stored.
         */
        post: operations["validateEvent"];
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
         * Everything of the tenant as of one moment.
         * @description JSON lines: one for each origin, subscription and grant, and a last one (`kind: end`) with the cursor to follow
         *     from (`GET /changes?after=`). **A stream without that last line is incomplete**: take another one. Subscriptions
         *     come in every state and grants too; what may be delivered is the receiver's to derive: the subscription is not
         *     suspended, and the grant of its origin and sink is live and has not expired. The first line comes when all of them
         *     have been read, which may take two minutes. A client that does not read for a while is cut off.
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
         * What became different after a cursor.
         * @description In the order of the log, complete, and the same for every reader. As a page; as a long poll with `wait`; or, with
         *     `Accept: text/event-stream`, as Server-Sent Events: the event's name is the kind of the change, its data the
         *     change, its id the cursor after it. Every 15 seconds, if nothing else is set, a stream gets an event `heartbeat`,
         *     whether or not anything of this tenant or origin changed. Its id is the present cursor, and its data says whether
         *     there may be `more` already (which the first one always says), and how old the registry's own knowledge is (`age`
         *     in seconds; absent while it is current). A stream ends when the token expires; go on with `Last-Event-ID`.
         *
         *     Each change carries the whole state of its subject at that moment, or `null` if it is gone, so applying one twice
         *     does no harm. Take over the cursor of every page and heartbeat: it moves on when others change something, and one
         *     that stays unused for longer than changes are kept answers 410.
         *
         *     Sinks and `protocolsettings`, headers among them, are told to every token with `assent:deliver`, and stay in the
         *     log for as long as changes are kept; what is secret belongs into `sinkcredential`, which is not in the log.
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
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit record of the tenant.
         * @description Newest first.
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
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description `active`: events may be delivered. `pending`: there is no outcome yet. `refused`: there is no consent, or an admin took
         *     the grant away. `unreachable`: every attempt to ask failed. `suspended`: somebody stopped deliveries. `expired`: the
         *     consent ran out. `retired`: the webhook answered 410.
         * @enum {string}
         */
        SubscriptionStatus: "pending" | "active" | "refused" | "unreachable" | "suspended" | "expired" | "retired";
        /** @description A place of the request that breaks a rule. */
        Fault: {
            /** @description JSON pointer into the body (`/sink`); outside of it `query/limit`, `header/prefer`, `path/id`. */
            pointer: string;
            /** @description Stable name of the rule that was broken. */
            rule: string;
            /** @description What is wrong there, for people. */
            detail: string;
        };
        /** @description A problem (RFC 9457) with a stable code and the place of each fault. */
        Problem: {
            /** @description A URI for the kind of problem: `urn:problem-type:assent:` and the code. */
            type: string;
            title: string;
            status: number;
            detail: string;
            /** @description Stable name of the problem. */
            code: string;
            /** @description The id under which this request stands in the logs. */
            requestid: string;
            faults?: components["schemas"]["Fault"][];
        };
        /**
         * @description One filter; its single member names the dialect.
         * @example {
         *       "prefix": {
         *         "type": "com.example."
         *       }
         *     }
         */
        Filter: {
            [key: string]: unknown;
        };
        /**
         * Format: date-time
         * @description In UTC, with `Z`.
         */
        Time: string;
        /** @description The credential that was replaced last. Senders still get it until `until`. */
        PreviousCredential: {
            /** @enum {string} */
            credentialtype: "PLAIN" | "ACCESSTOKEN" | "REFRESHTOKEN";
            /** @description When it was given. */
            setat: components["schemas"]["Time"];
            /** @description When its access token expires. */
            endsat?: components["schemas"]["Time"];
            /**
             * @description A keyed hash: the same credential, given again to the same subscription, has the same one until the registry
             *     gets a new key. It says nothing about the secret.
             */
            fingerprint: string;
            until: components["schemas"]["Time"];
        };
        /**
         * @description Metadata of the stored credential. The secrets are never returned.
         * @example {
         *       "credentialtype": "PLAIN",
         *       "setat": "2026-11-20T12:00:00.000Z",
         *       "fingerprint": "3f0Ck1hYQx2mPZaT"
         *     }
         */
        PresentCredential: {
            /** @enum {string} */
            credentialtype: "PLAIN" | "ACCESSTOKEN" | "REFRESHTOKEN";
            /** @description When it was given. */
            setat: components["schemas"]["Time"];
            /** @description When its access token expires. */
            endsat?: components["schemas"]["Time"];
            /**
             * @description A keyed hash: the same credential, given again to the same subscription, has the same one until the registry
             *     gets a new key. It says nothing about the secret.
             */
            fingerprint: string;
            previous?: components["schemas"]["PreviousCredential"];
        };
        /** @description Requests per minute to ask for with `WebHook-Request-Rate` (webhook specification, section 4.1.4). */
        RequestedRate: number;
        /**
         * @description Whether webhooks are offered a callback URL (webhook specification, section 4.1.3). `never`: not by these questions.
         * @enum {string}
         */
        CallbackPolicy: "offer" | "never";
        /** @description Requests per minute; `"*"` means no limit (webhook specification, section 4.2.2). A webhook that allows more than the maximum is given the maximum, with the warning `rate_capped`. */
        Rate: number | "*";
        /**
         * @description The latest call of the callback URL that granted nothing: what came, why it did not count, and what to send. The audit
         *     record has the first ten of a handshake, as `handshake.callback_rejected`.
         * @example {
         *       "at": "2026-11-21T12:04:00.000Z",
         *       "reason": "rate_malformed",
         *       "message": "A callback sent WebHook-Allowed-Rate \"0\", which is no rate, so it granted nothing.",
         *       "advice": "Send requests per minute as a positive integer, in digits alone, or \"*\"; or leave WebHook-Allowed-Rate out of the\ncallback to allow the requested rate.",
         *       "count": 1
         *     }
         */
        RejectedCallback: {
            at: components["schemas"]["Time"];
            /**
             * @description The callback named another origin, or several; its rate is no rate; its URL had expired; or its question was closed
             *     by a refusal, a revocation, a deletion, or another sink, origin or rate.
             * @enum {string}
             */
            reason: "origin_mismatch" | "origin_repeated" | "rate_malformed" | "callback_expired" | "callback_closed";
            /** @description What came, and why it did not count. */
            message: string;
            /** @description What to send instead. */
            advice: string;
            /** @description How many such calls the handshake has had. */
            count: number;
        };
        /** @description Why the subscription stands where it stands, and what happens next. */
        StatusDetails: {
            /**
             * @description Stable code: a verdict, as listed in the README, or `agreement`, `suspended`, `expired`, `not_asked_yet` (it is
             *     to be asked) or `asking` (its answer is awaited).
             */
            reason: string;
            message: string;
            /** @description What the owner of the webhook can change. */
            advice?: string;
            /** @description What happens next. */
            next?: string;
            nextat?: components["schemas"]["Time"];
            allowedrate?: components["schemas"]["Rate"];
            expiresat?: components["schemas"]["Time"];
            /**
             * @description The webhook was asked to renew the consent and gave no answer that counts. The consent holds until `expiresat`, and
             *     until then the webhook is asked again.
             */
            renewal?: {
                /** @enum {string} */
                outcome: "no_answer";
                /** @description Of the last attempt; a stable code, as listed in the README. */
                verdict: string;
                /** @description The verdict, for people. */
                message: string;
                /** @description What the owner of the webhook can change. */
                advice?: string;
                /** @description How long the consent still holds. */
                secondsleft: number;
            };
            warnings?: {
                code: string;
                message: string;
            }[];
            /** @description The handshake that this is based on. */
            handshake?: string;
            rejectedcallback?: components["schemas"]["RejectedCallback"];
        };
        /** @description A place that breaks a rule of events. */
        RuleBreach: {
            /** @description JSON pointer into what was sent, or `header/` and the name of a header. */
            pointer: string;
            /** @description Stable name of the rule. */
            rule: string;
            /** @enum {string} */
            level?: "MUST" | "SHOULD";
            /** @description What is wrong there, for people. */
            detail: string;
        };
        /**
         * @description A stored subscription and where it stands.
         * @example {
         *       "id": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f",
         *       "source": "urn:nld:oin:00000001823288444000:systeem:BRP-component",
         *       "types": [
         *         "nl.overheid.zaken.zaakstatus-gewijzigd"
         *       ],
         *       "sink": "https://webhook.example.com/events",
         *       "protocol": "HTTP",
         *       "origin": "eventemitter.example.com",
         *       "status": "active",
         *       "statusdetails": {
         *         "reason": "granted",
         *         "message": "The webhook agreed in its answer. eventemitter.example.com may send up to 120 requests per minute.",
         *         "next": "The consent is renewed by another handshake.",
         *         "nextat": "2026-11-28T12:00:00.000Z",
         *         "allowedrate": 120,
         *         "expiresat": "2026-11-30T12:00:00.000Z",
         *         "handshake": "0197f3c2-4a5c-7000-8000-000000000001"
         *       },
         *       "subscriber": "case-system",
         *       "createdat": "2026-11-20T12:00:00.000Z",
         *       "updatedat": "2026-11-20T12:00:00.000Z"
         *     }
         */
        Subscription: {
            /** @description The identifier; it never changes. */
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
            status: components["schemas"]["SubscriptionStatus"];
            statusdetails: components["schemas"]["StatusDetails"];
            /** @description The client that the subscription belongs to. */
            subscriber: string;
            /**
             * @description The steps that the filters take for an event whose attributes have 256 characters. Absent for most: it is there
             *     if the subscription names nothing that an event must have, or takes more than 1,024 steps.
             */
            price?: number;
            /** @description What the profile of the origin makes unlikely in `types` or `source`. A list of subscriptions leaves it out. */
            warnings?: components["schemas"]["RuleBreach"][];
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
            /** @description Not empty, without control characters. */
            identifier?: string;
            /** @description Not empty, without control characters. */
            secret?: string;
            /**
             * @description Of a request only. For how long from now senders still get the credential that this one replaces, beside it; 0
             *     if absent. Beside a type alone, or the credential that is stored, it does so for the one that was replaced last,
             *     whose overlap stays if it is absent and ends if it is 0. The sink stays on its host.
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
            /** @description Optional; `bearer` if absent. */
            accesstokentype?: string;
            /**
             * @description Of a request only. For how long from now senders still get the credential that this one replaces, beside it; 0
             *     if absent. Beside a type alone, or the credential that is stored, it does so for the one that was replaced last,
             *     whose overlap stays if it is absent and ends if it is 0. The sink stays on its host.
             */
            overlapseconds?: number;
            readonly setat?: unknown;
            readonly endsat?: unknown;
            readonly fingerprint?: unknown;
            readonly previous?: unknown;
        };
        /** @description An access token, and what the delivery system gets the next one with. */
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
            /** @description Optional; `bearer` if absent. */
            accesstokentype?: string;
            /**
             * @description Of a request only. For how long from now senders still get the credential that this one replaces, beside it; 0
             *     if absent. Beside a type alone, or the credential that is stored, it does so for the one that was replaced last,
             *     whose overlap stays if it is absent and ends if it is 0. The sink stays on its host.
             */
            overlapseconds?: number;
            readonly setat?: unknown;
            readonly endsat?: unknown;
            readonly fingerprint?: unknown;
            readonly previous?: unknown;
            /** @description Not empty, without control characters. */
            refreshtoken?: string;
            /** @description An https address that keeps the rules of sinks. */
            refreshtokenendpoint?: string;
        };
        /**
         * @description What the delivery system shows the sink (section 3.2.3). It is kept encrypted, and its secrets are never read back.
         *     A new one needs every member of its type but those that are marked as optional. In a request, one with nothing but
         *     its type keeps what is stored.
         * @example {
         *       "credentialtype": "PLAIN",
         *       "identifier": "assent",
         *       "secret": "a-shared-secret",
         *       "overlapseconds": 3600
         *     }
         */
        SinkCredential: components["schemas"]["PlainCredential"] | components["schemas"]["AccessTokenCredential"] | components["schemas"]["RefreshTokenCredential"];
        /**
         * @description What a consumer asks for (CloudEvents Subscriptions API, section 3.2.1). Members that the registry tells about a
         *     stored subscription may stand in a request, so that what was read can be written back; they are ignored.
         */
        SubscriptionRequest: {
            /** @description Ignored when creating; when replacing it must be the one of the path. */
            id?: string;
            /** @description Only events with exactly this `source`. A non-empty URI reference. */
            source?: string;
            /** @description Only events whose `type` is one of these. Absent or empty means every type. */
            types?: string[];
            /** @description Only events with exactly this `subject`. */
            subject?: string;
            /**
             * @description Every filter must hold. The dialects are `exact`, `prefix`, `suffix`, `all`, `any`, `not` (section 3.2.4) and
             *     `sql` (CESQL v1); absent or empty means every event. Those inside of others count, too: 100 in all.
             */
            filters?: components["schemas"]["Filter"][];
            /** @description The exact https address that events are sent to and that is asked for permission. */
            sink: string;
            sinkcredential?: components["schemas"]["SinkCredential"];
            /** @description The delivery protocol. `HTTP` is the one that is supported. */
            protocol: string;
            /**
             * @description `headers` to send along with each delivery, 50 at the most, and `method`, which can only be `POST` (webhook
             *     specification, section 2.1). Of several subscriptions to one sink, the settings of the oldest that has any hold
             *     for all; empty ones are as absent.
             */
            protocolsettings?: {
                /**
                 * @description How events are delivered (HTTP protocol binding, section 3); `structured` if absent, or `binary`. What has no
                 *     data, or no type of its bytes, is structured in any case (webhook specification, section 2.1).
                 */
                contentmode?: string;
                headers?: {
                    [key: string]: string;
                };
                method?: string;
            } & {
                [key: string]: unknown;
            };
            /** @description Settings for whoever generates the events; stored and given back. 8 KiB at the most, as JSON. */
            config?: {
                [key: string]: unknown;
            };
            /** @description The sending system that shall deliver. Absent means the tenant's default origin. */
            origin?: string;
            requestedrate?: components["schemas"]["RequestedRate"];
            /**
             * @description `never`: the webhook is asked without a callback URL, for receivers that keep their consent back where one is
             *     offered. `offer` if absent. Where the origin says `never`, that holds. A renewal, which is for all subscriptions of
             *     one origin to one sink, leaves the callback out where all of them say `never`.
             */
            callback?: components["schemas"]["CallbackPolicy"];
            readonly status?: unknown;
            readonly statusdetails?: unknown;
            readonly subscriber?: unknown;
            readonly price?: unknown;
            readonly warnings?: unknown;
            readonly suspended?: unknown;
            readonly createdat?: unknown;
            readonly updatedat?: unknown;
        };
        /** @description A JSON merge patch (RFC 7396) on the subscription; `null` removes a member. */
        SubscriptionPatch: {
            [key: string]: unknown;
        };
        Reason: {
            /** @description Why; kept with the record. Not only of spaces. */
            reason: string;
        };
        /** @description Header lines in the order in which they went over the wire; a callback key is left out. */
        HeaderLines: {
            name: string;
            value: string;
        }[];
        /**
         * @description One OPTIONS request. Status, address and timing of the target are for admins; others see the verdict and the
         *     WebHook headers.
         */
        Attempt: {
            /** @description Counts the attempts of the handshake, from 1. */
            number: number;
            startedat: components["schemas"]["Time"];
            finishedat?: components["schemas"]["Time"];
            request: components["schemas"]["HeaderLines"];
            answer?: components["schemas"]["HeaderLines"];
            /** @description Of the answer; for admins. */
            status?: number;
            /** @description Who was called; for admins. */
            remoteaddress?: string;
            /** @description How long each stage took, in milliseconds; one that was not completed has none. */
            timing?: {
                lookupms?: number;
                connectms?: number;
                tlsms?: number;
                answerms?: number;
                totalms: number;
            };
            /** @description A stable code, as listed in the README. Absent while there is no outcome. */
            verdict?: string;
            /** @description The verdict, for people. */
            message?: string;
            /** @description What the owner of the webhook can change. */
            advice?: string;
            /** @description Codes of what the answer left to be desired. */
            warnings?: string[];
        };
        /**
         * @description One conversation with one sink for one origin.
         * @example {
         *       "id": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e61",
         *       "origin": "eventemitter.example.com",
         *       "sink": "https://webhook.example.com/events",
         *       "reason": "registration",
         *       "requestedrate": 120,
         *       "state": "granted",
         *       "verdict": "granted",
         *       "message": "The webhook allows this origin to send.",
         *       "createdat": "2026-11-21T12:00:00.000Z",
         *       "finishedat": "2026-11-21T12:00:00.140Z",
         *       "attempts": [
         *         {
         *           "number": 1,
         *           "startedat": "2026-11-21T12:00:00.010Z",
         *           "finishedat": "2026-11-21T12:00:00.140Z",
         *           "request": [
         *             {
         *               "name": "WebHook-Request-Origin",
         *               "value": "eventemitter.example.com"
         *             },
         *             {
         *               "name": "WebHook-Request-Rate",
         *               "value": "120"
         *             }
         *           ],
         *           "answer": [
         *             {
         *               "name": "WebHook-Allowed-Origin",
         *               "value": "eventemitter.example.com"
         *             },
         *             {
         *               "name": "WebHook-Allowed-Rate",
         *               "value": "120"
         *             }
         *           ],
         *           "verdict": "granted",
         *           "message": "The webhook allows this origin to send."
         *         }
         *       ]
         *     }
         */
        Handshake: {
            id: string;
            origin: string;
            sink: string;
            /**
             * @description Why the webhook is asked: a new subscription, another sink, origin or rate, somebody's wish, or a consent that runs
             *     out.
             * @enum {string}
             */
            reason: "registration" | "change" | "request" | "renewal";
            requestedrate?: components["schemas"]["RequestedRate"];
            /**
             * @description `due`: to be asked, or asked again. `asking`: at present. `waiting`: the answer gave no consent, and the callback
             *     can still be called. `unreachable`: no attempt got an answer that counts. `retired`: the answer was 410. `cancelled`: the question
             *     lost its meaning.
             * @enum {string}
             */
            state: "due" | "asking" | "waiting" | "granted" | "refused" | "unreachable" | "retired" | "cancelled";
            /**
             * @description What came of it last; a stable code, as listed in the README. Where the name of the sink is absent or leads to an
             *     address that may not be called, admins see which (`name_not_found`, `address_not_allowed`), and others see
             *     `name_not_public`.
             */
            verdict?: string;
            /** @description The verdict, for people. */
            message?: string;
            /** @description What the owner of the webhook can change. */
            advice?: string;
            /** @description What happens next. */
            next?: string;
            /** @description When that happens. */
            nextat?: components["schemas"]["Time"];
            rejectedcallback?: components["schemas"]["RejectedCallback"];
            createdat: components["schemas"]["Time"];
            /** @description Absent while it is not over. */
            finishedat?: components["schemas"]["Time"];
            attempts: components["schemas"]["Attempt"][];
        };
        /**
         * @description What senders reported of a pair of origin and sink.
         * @example {
         *       "origin": "eventemitter.example.com",
         *       "sink": "https://webhook.example.com/events",
         *       "counts": {
         *         "delivered": 1204,
         *         "mediarefused": 3
         *       },
         *       "failures": 3,
         *       "failingsince": "2026-11-20T12:00:00.000Z",
         *       "deliveredat": "2026-11-20T11:59:00.000Z",
         *       "lastkind": "mediarefused",
         *       "lastat": "2026-11-20T12:00:02.000Z",
         *       "message": "The webhook refuses the format of the event (415).",
         *       "advice": "Accept application/cloudevents+json, or choose the other content mode with contentmode in protocolsettings."
         *     }
         */
        Deliveries: {
            origin: string;
            sink: string;
            /**
             * @description Deliveries by what they came to; what never happened is left out. `delivered` (2xx), `gone` (410), `throttled`
             *     (429), `unavailable` (503), `mediarefused` (415), `unauthorized` (401, 403), `redirected` (3xx), `rejected` (any
             *     other 4xx), `failed` (any other 5xx), `unanswered` (no answer).
             */
            counts: {
                [key: string]: number;
            };
            /**
             * Format: int64
             * @description Deliveries that failed since the last success.
             */
            failures: number;
            failingsince?: components["schemas"]["Time"];
            /** @description When a success was reported last. */
            deliveredat?: components["schemas"]["Time"];
            /** @description What the last delivery came to, by the names of `counts`. */
            lastkind?: string;
            lastat?: components["schemas"]["Time"];
            /** @description For admins. */
            laststatus?: number;
            /** @description The webhook asked every sender to wait until then. */
            helduntil?: components["schemas"]["Time"];
            message?: string;
            /** @description What to change. */
            advice?: string;
        };
        /**
         * @description What was decided. The first decision counts; a later call gets it as well.
         * @example {
         *       "granted": true,
         *       "origin": "eventemitter.example.com",
         *       "sink": "https://webhook.example.com/events",
         *       "allowedrate": 60,
         *       "expiresat": "2026-12-01T12:00:00.000Z"
         *     }
         */
        CallbackDecision: {
            /** @description `false` if the owner of the webhook refused. */
            granted: boolean;
            origin: string;
            sink: string;
            /** @description Only if granted. */
            allowedrate?: components["schemas"]["Rate"];
            /** @description Only if granted. */
            expiresat?: components["schemas"]["Time"];
        };
        /** @description What the form of the page sends. Without a decision the call is what it is without a form. */
        CallbackForm: {
            /** @enum {string} */
            decision?: "allow" | "refuse";
            /** @description As `WebHook-Allowed-Rate`, and in its place; empty is as absent. */
            rate?: string;
        };
        /**
         * @description `response`: the answer to OPTIONS. `callback`: the callback was called. `agreement`: an admin recorded it.
         *     `policy`: the target does not support the handshake and the origin's policy allows a low rate.
         * @enum {string}
         */
        GrantBasis: "response" | "callback" | "agreement" | "policy";
        /**
         * @description May this origin send to this sink now?
         * @example {
         *       "origin": "eventemitter.example.com",
         *       "sink": "https://webhook.example.com/events",
         *       "allowed": true,
         *       "allowedrate": 120,
         *       "expiresat": "2026-12-01T12:00:00.000Z",
         *       "basis": "response",
         *       "grant": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e60"
         *     }
         */
        Permission: {
            origin: string;
            sink: string;
            allowed: boolean;
            allowedrate?: components["schemas"]["Rate"];
            expiresat?: components["schemas"]["Time"];
            basis?: components["schemas"]["GrantBasis"];
            /** @description The id of the grant. */
            grant?: string;
            /** @description The webhook asked every sender to wait until then. */
            helduntil?: components["schemas"]["Time"];
            /**
             * @description Why not: `no_grant`, `expired`, `revoked`, `ended`, `suspended` (every subscription to this sink is suspended),
             *     or `held` (the webhook asked senders to wait until `helduntil`; the consent stands, send later).
             */
            reason?: string;
            /** @description The reason, for people. */
            message?: string;
        };
        /** @description A pair of origin and sink. */
        PermissionQuestion: {
            origin: string;
            sink: string;
        };
        /** @description What one delivery came to, or `count` alike. */
        Outcome: {
            origin: string;
            sink: string;
            /** @description The status of the webhook's answer, or `error` if there was none. */
            status: number | "error";
            /**
             * Format: date-time
             * @description When the answer came, by the clock of the sender; who has no clock that is right leaves it out. A 410 from
             *     before the present consent does not count against it, and of a hold, the time since then has passed.
             */
            at?: string;
            /**
             * @description `Retry-After` of the answer, as it stood there: seconds, or an HTTP date, which is measured against `at`. It
             *     counts with 429 and 503, for a day at the most.
             */
            retryafter?: number | string;
            /** @description How many deliveries came to this. 1 if absent. */
            count?: number;
        };
        ReportFault: {
            /** @description JSON pointer into the report. */
            pointer: string;
            rule: string;
            detail: string;
        };
        /** @description What became of one entry of a report. */
        OutcomeResult: {
            accepted: boolean;
            /** @description Why it was not accepted. `no_grant`: the origin never had a grant for this sink. */
            faults?: components["schemas"]["ReportFault"][];
            /** @description It was accepted, but something in it was passed over. */
            warnings?: components["schemas"]["ReportFault"][];
        };
        LeaseRequest: {
            origin: string;
            sink: string;
            /**
             * @description Names this process among the senders of the origin. Give it a new name at each start. A pair has a thousand at
             *     the most that asked within five minutes; one more gets nothing, and a `retryafter` of 60.
             */
            instance: string;
            /** @description How many requests it has to send. */
            requests: number;
            /**
             * @description Earlier leases of this instance for the same pair, each with how many of its requests were not sent and will not
             *     be. Each of the latest four can be handed back, once; others are passed over.
             */
            returns?: {
                lease: string;
                unused: number;
            }[];
        };
        /**
         * @description A share of the rate of a pair of origin and sink.
         * @example {
         *       "origin": "eventemitter.example.com",
         *       "sink": "https://webhook.example.com/events",
         *       "requests": 5,
         *       "allowedrate": 600,
         *       "lease": "0197f3c2-4a5b-4c6d-8e9f-0a1b2c3d4e5f.12",
         *       "seconds": 2,
         *       "until": "2026-11-21T12:00:02.000Z",
         *       "retryafter": 2.042
         *     }
         */
        Lease: {
            origin: string;
            sink: string;
            /** @description How many requests this instance may send with this lease; 0 if there is nothing at present. */
            requests: number;
            /** @description The rate of the pair, of which this is a share. */
            allowedrate: components["schemas"]["Rate"];
            /** @description The rate is `*`. Nothing is counted and no lease is needed. */
            unlimited?: boolean;
            /** @description Names the lease when what was not sent of it is handed back. */
            lease?: string;
            /**
             * @description How long the lease lasts, counted from when the instance sent this request, so that its clock need not be right.
             *     What was not sent by then must not be sent with this lease.
             */
            seconds?: number;
            /** @description The same end by the clock of the database. */
            until?: components["schemas"]["Time"];
            /**
             * @description Seconds, with a fraction, after which it makes sense to ask for more. Who asks then has its turn; who asks
             *     earlier keeps it and gets nothing while others wait.
             */
            retryafter?: number;
            /** @description The webhook asked every sender to wait until then. */
            helduntil?: components["schemas"]["Time"];
        };
        /**
         * @example {
         *       "lease": "0197f3c2-4a5b-4c6d-8e9f-0a1b2c3d4e5f.12",
         *       "returned": 2
         *     }
         */
        ReturnedLease: {
            lease: string;
            /** @description How many requests can be given to others again; 0 if the lease was handed back before, or it was too late. */
            returned: number;
        };
        /**
         * @description The fact that an origin may send to a sink, or no longer may.
         * @example {
         *       "id": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e60",
         *       "origin": "eventemitter.example.com",
         *       "sink": "https://webhook.example.com/events",
         *       "state": "live",
         *       "basis": "response",
         *       "allowedorigin": "eventemitter.example.com",
         *       "allowedrate": 120,
         *       "requestedrate": 120,
         *       "warnings": [],
         *       "handshake": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e61",
         *       "grantedat": "2026-11-21T12:00:00.000Z",
         *       "expiresat": "2026-12-01T12:00:00.000Z",
         *       "renewat": "2026-11-29T12:00:00.000Z"
         *     }
         */
        Grant: {
            id: string;
            origin: string;
            sink: string;
            /**
             * @description `live`: the origin may send. `expired`: `expiresat` has come. `ended`: for `endreason`. `revoked`: an admin took it
             *     away.
             * @enum {string}
             */
            state: "live" | "expired" | "ended" | "revoked";
            /**
             * @description Why it ended: `renewal_refused`, `target_gone` (410), `no_subscription` (the last one was deleted), `reopened`
             *     (an admin asked again), or the words of the admin who revoked it.
             */
            endreason?: string;
            basis: components["schemas"]["GrantBasis"];
            /** @description `WebHook-Allowed-Origin` as it was answered. */
            allowedorigin?: string;
            allowedrate: components["schemas"]["Rate"];
            requestedrate?: components["schemas"]["RequestedRate"];
            /** @description Codes of what its answer left to be desired. */
            warnings?: string[];
            /** @description The handshake that it is based on. */
            handshake?: string;
            /** @description The agreement, for example its file number. */
            reference?: string;
            /** @description The client whose word it is, `callback`, or `assent`. */
            recordedby?: string;
            grantedat: components["schemas"]["Time"];
            expiresat: components["schemas"]["Time"];
            /** @description When the webhook is asked again. */
            renewat?: components["schemas"]["Time"];
            endedat?: components["schemas"]["Time"];
            /** @description As `recordedby`, of the end. */
            endedby?: string;
            /** @description The webhook asked every sender to wait until then. */
            helduntil?: components["schemas"]["Time"];
        };
        /** @description A grant by agreement between organisations, without a handshake. */
        GrantRequest: {
            origin: string;
            sink: string;
            allowedrate: components["schemas"]["Rate"];
            /**
             * Format: date-time
             * @description In the future and at most five years away.
             */
            expiresat: string;
            /** @description The agreement, for example its file number. */
            reference: string;
        };
        /**
         * @description How strictly answers of webhooks are read; the README has the table.
         * @enum {string}
         */
        Judgement: "strict" | "lenient";
        /**
         * @description A set of rules that events keep.
         * @enum {string}
         */
        Profile: "cloudevents" | "nl-gov" | "intg-std-015" | "belgif";
        /**
         * @description A sending system and its policy.
         * @example {
         *       "name": "eventemitter.example.com",
         *       "isdefault": true,
         *       "requestedrate": 120,
         *       "defaultrate": 60,
         *       "judgement": "strict",
         *       "callback": "offer",
         *       "leaseseconds": 864000,
         *       "profile": "nl-gov",
         *       "goneafter": 1,
         *       "createdat": "2026-11-20T12:00:00.000Z",
         *       "updatedat": "2026-11-20T12:00:00.000Z"
         *     }
         */
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
            createdat: components["schemas"]["Time"];
            updatedat: components["schemas"]["Time"];
        };
        /** @description A sending system to register, with its policy. */
        OriginRequest: {
            /** @description The value of `WebHook-Request-Origin`: a DNS name. It never changes. */
            name: string;
            /** @description Whether subscriptions that name no origin take this one. `false` if absent. */
            isdefault?: boolean;
            requestedrate?: components["schemas"]["RequestedRate"];
            /** @description The rate that holds when none was asked for and the webhook names none. 60 if absent. */
            defaultrate?: components["schemas"]["Rate"];
            /** @description How strictly answers are read; the README has the table. `strict` if absent. */
            judgement?: components["schemas"]["Judgement"];
            /** @description Whether questions of this origin offer a callback. `offer` if absent. */
            callback?: components["schemas"]["CallbackPolicy"];
            /** @description The rate for targets that answer OPTIONS with 405 or 501. Absent means that they get nothing. */
            unsupportedrate?: number;
            /** @description How long a consent holds before it must be renewed. 864000, ten days, if absent. */
            leaseseconds?: number;
            /** @description The rules that events of this origin keep. `cloudevents` if absent. */
            profile?: components["schemas"]["Profile"];
            /** @description How often in a row a webhook answers deliveries with 410 Gone before it counts as retired. 1 if absent. */
            goneafter?: number;
            readonly createdat?: unknown;
            readonly updatedat?: unknown;
        };
        /** @description The policy that takes the place of the present one. */
        OriginSettings: {
            /** @description The value of `WebHook-Request-Origin`: a DNS name. It never changes. */
            name?: string;
            /** @description Whether subscriptions that name no origin take this one. `false` if absent. */
            isdefault?: boolean;
            requestedrate?: components["schemas"]["RequestedRate"];
            /** @description The rate that holds when none was asked for and the webhook names none. 60 if absent. */
            defaultrate?: components["schemas"]["Rate"];
            /** @description How strictly answers are read; the README has the table. `strict` if absent. */
            judgement?: components["schemas"]["Judgement"];
            /** @description Whether questions of this origin offer a callback. `offer` if absent. */
            callback?: components["schemas"]["CallbackPolicy"];
            /** @description The rate for targets that answer OPTIONS with 405 or 501. Absent means that they get nothing. */
            unsupportedrate?: number;
            /** @description How long a consent holds before it must be renewed. 864000, ten days, if absent. */
            leaseseconds?: number;
            /** @description The rules that events of this origin keep. `cloudevents` if absent. */
            profile?: components["schemas"]["Profile"];
            /** @description How often in a row a webhook answers deliveries with 410 Gone before it counts as retired. 1 if absent. */
            goneafter?: number;
            readonly createdat?: unknown;
            readonly updatedat?: unknown;
        };
        /** @description A JSON merge patch (RFC 7396) on the policy; `null` removes a member, which then is as if absent. */
        OriginPatch: {
            [key: string]: unknown;
        };
        /** @description A CloudEvent in the JSON format, with extension attributes of any name. */
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
            /** @description Any JSON value. Matching does not look at it. */
            data?: unknown;
            /** @description Bytes in place of `data`, in Base64. */
            data_base64?: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description One webhook that gets the event, once, for all its subscriptions: one `POST` to `sink`, without following redirects,
         *     when a lease or an unlimited rate allows it.
         *
         *     Headers, the later ones winning: those in `protocolsettings.headers`; those of the content mode; `WebHook-Request-Origin`
         *     with the `origin` of this response; and `Authorization` for `sinkcredential`. That is `Basic` (RFC 7617, in UTF-8) with
         *     `identifier` and `secret` of a `PLAIN` credential, and `Bearer` with `accesstoken` where `accesstokentype` is `bearer`
         *     in any letter case, or absent. Where there is `hascredential` and no credential that you can apply, deliver nothing.
         *
         *     `contentmode` `structured`: the body is the event as JSON, `Content-Type: application/cloudevents+json; charset=utf-8`.
         *     `binary`: the body is the data, `Content-Type` its `datacontenttype`, and each other attribute a `ce-` header, with all
         *     but visible ASCII, and with `"` and `%`, percent-encoded in UTF-8. An event is structured all the same if it has no
         *     data, if it has bytes and no `datacontenttype`, if its text is in another charset than UTF-8 or US-ASCII, and if its
         *     `datacontenttype` begins with `application/cloudevents`.
         */
        MatchedSink: {
            sink: string;
            /** @description The ids of those that match. */
            subscriptions: string[];
            allowedrate: components["schemas"]["Rate"];
            expiresat: components["schemas"]["Time"];
            /** @description The webhook asked senders to wait until then; deliver later. */
            helduntil?: components["schemas"]["Time"];
            /**
             * @description How the webhook wants its events.
             * @enum {string}
             */
            contentmode: "structured" | "binary";
            /** @description Those of the oldest subscription that has any. */
            protocolsettings?: {
                [key: string]: unknown;
            };
            /**
             * @description `true` if the webhook has a credential, absent otherwise. Deliver nothing there without it: a token without the
             *     scope `assent:credentials` gets this member and no `sinkcredential`.
             */
            hascredential?: boolean;
            /** @description Only for tokens with the scope `assent:credentials`; that of the oldest subscription that has one. */
            sinkcredential?: components["schemas"]["SinkCredential"];
            /**
             * @description Beside `sinkcredential`, while the one that it replaced overlaps it. A webhook that answers 401 to the new one
             *     may not have it yet: send once more with this one, before `until`.
             */
            previouscredential?: {
                until: components["schemas"]["Time"];
                sinkcredential: components["schemas"]["SinkCredential"];
            };
        };
        /**
         * @description Webhooks that get the event as well, and have a credential that no key of the registry opens. Deliver nothing there
         *     without it, and ask again later. Only for tokens with the scope `assent:credentials`; absent if there are none.
         */
        WithheldSinks: components["schemas"]["MatchedSink"][];
        Explanation: {
            subscription: string;
            sink: string;
            matched: boolean;
            /** @description `matched`, `filter` (it does not hold), `suspended`, `no_grant`, `expired`, `revoked` or `ended`. */
            reason: string;
            /** @description The first part of the subscription that does not hold. */
            pointer?: string;
            /** @description Why not, where the event does not show it: what is missing or cannot be evaluated. */
            detail?: string;
        };
        /** @description Where one event goes. */
        MatchAnswer: {
            /** @description The position of the change log that this answer stands on. */
            revision: string;
            /** @description The sending system; the value of `WebHook-Request-Origin` on each delivery. */
            origin: string;
            sinks: components["schemas"]["MatchedSink"][];
            withheld?: components["schemas"]["WithheldSinks"];
            warnings?: components["schemas"]["RuleBreach"][];
            explanations?: components["schemas"]["Explanation"][];
        };
        /** @description The sinks of one event of a batch, or what is wrong with it. */
        MatchedEvent: {
            /**
             * @description The position that this event was matched at, if it is later than that of the answer: a batch that takes long
             *     is matched in several turns.
             */
            revision?: string;
            sinks?: components["schemas"]["MatchedSink"][];
            withheld?: components["schemas"]["WithheldSinks"];
            warnings?: components["schemas"]["RuleBreach"][];
            faults?: components["schemas"]["RuleBreach"][];
            explanations?: components["schemas"]["Explanation"][];
        };
        /** @description Where each event of a batch goes, in order. */
        BatchAnswer: {
            /** @description The position of the change log that this answer stands on. Events may have a later one of their own. */
            revision: string;
            origin: string;
            events: components["schemas"]["MatchedEvent"][];
        };
        /** @description An event, and either the id of a stored subscription, or what one would hold. */
        FilterTest: {
            /** @description A CloudEvent in the JSON format, read as where it is matched. */
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
            /** @description The first part that does not hold. */
            pointer?: string;
            /** @description Why not, where the event does not show it: what is missing or cannot be evaluated. */
            detail?: string;
        };
        /** @description What one event breaks. */
        ValidatedEvent: {
            /** @description It breaks no MUST. */
            valid: boolean;
            faults: components["schemas"]["RuleBreach"][];
            warnings: components["schemas"]["RuleBreach"][];
        };
        Validation: {
            profile: components["schemas"]["Profile"];
            /** @description No event breaks a MUST. */
            valid: boolean;
            events: components["schemas"]["ValidatedEvent"][];
        };
        FeedOrigin: {
            name: string;
            /** @description Events are of this origin where nothing else is said. */
            isdefault: boolean;
            profile: components["schemas"]["Profile"];
        };
        /**
         * @description Who wants what. It is to be delivered if it is not suspended, and its origin may send to its sink. `source`,
         *     `subject`, `filters` and `protocolsettings` are as in the subscription, and null where it has none; `types` is empty
         *     where every type is wanted.
         */
        FeedSubscription: {
            id: string;
            origin: string;
            sink: string;
            source?: string | null;
            types?: string[] | null;
            subject?: string | null;
            filters?: Record<string, never>[] | null;
            protocolsettings?: Record<string, never> | null;
            /** @description `POST /match` tells it to those who may see it. */
            hascredential: boolean;
            suspended: boolean;
        };
        /** @description The origin may send to the sink while `state` is `live`, `expiresat` has not come, and `helduntil` is past or null. */
        FeedGrant: {
            id: string;
            origin: string;
            sink: string;
            /** @enum {string} */
            state: "live" | "ended" | "revoked";
            basis: components["schemas"]["GrantBasis"];
            /** @description Requests per minute, as text, or `*`. */
            allowedrate: string;
            expiresat: components["schemas"]["Time"];
            /**
             * Format: date-time
             * @description The webhook asked senders to wait until then.
             */
            helduntil?: string | null;
        };
        /**
         * @description What became of the origin, subscription or grant: what matching and permissions need. A later version may add
         *     members.
         */
        FeedState: components["schemas"]["FeedOrigin"] | components["schemas"]["FeedSubscription"] | components["schemas"]["FeedGrant"];
        SnapshotLine: {
            /** @enum {string} */
            kind: "origin" | "subscription" | "grant" | "end";
            state?: components["schemas"]["FeedState"];
            /** @description Of the last line. */
            cursor?: string;
            /** @description Of the last line: the position of the change log that the snapshot stands on. */
            revision?: string;
        };
        Change: {
            /** @description Where to go on after this change. */
            cursor: string;
            /** @description Its position in the change log, as answers of `POST /match` name it. */
            revision: string;
            at: components["schemas"]["Time"];
            /**
             * @description What happened, for people and logs; the part before the dot says what the state is of. `subscription.moved`
             *     tells those who follow the old origin that the subscription has left it.
             * @enum {string}
             */
            kind: "subscription.created" | "subscription.replaced" | "subscription.moved" | "subscription.deleted" | "subscription.suspended" | "subscription.resumed" | "origin.changed" | "grant.live" | "grant.ended" | "grant.revoked" | "grant.held" | "grant.released";
            origin: string;
            sink?: string;
            subscription?: string;
            state: components["schemas"]["FeedState"] | null;
        };
        ChangePage: {
            changes: components["schemas"]["Change"][];
            /** @description Where to go on; also on an empty page. */
            cursor: string;
            /** @description There is more already. */
            more: boolean;
        };
        /**
         * @description One change that somebody made.
         * @example {
         *       "id": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e62",
         *       "at": "2026-11-21T12:00:00.000Z",
         *       "actor": "beheer",
         *       "action": "grant.revoked",
         *       "target": "grant:0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e60",
         *       "detail": {
         *         "origin": "eventemitter.example.com",
         *         "sink": "https://webhook.example.com/events"
         *       },
         *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63"
         *     }
         */
        AuditEntry: {
            id: string;
            at: components["schemas"]["Time"];
            /** @description The client of the token, `callback`, or `assent` for what the service did by itself. */
            actor: string;
            /** @description What was done: the kind of the target, a dot, and what happened. */
            action: string;
            /** @description What was changed: its kind and id. */
            target: string;
            detail?: {
                [key: string]: unknown;
            };
            /** @description The `X-Request-Id` of the request that did it, if one did. */
            requestid?: string;
        };
    };
    responses: {
        /** @description Any other problem. */
        Problem: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                Allow: components["headers"]["Allow"];
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
                 *       "detail": "The database does not answer: ask again. A change may have been made or not; repeat it with the same Idempotency-Key.",
                 *       "code": "database_unavailable",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request breaks a rule; `faults` names every place. */
        BadRequest: {
            headers: {
                "API-Version": components["headers"]["API-Version"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No token, or one that does not hold. */
        Unauthenticated: {
            headers: {
                "WWW-Authenticate": components["headers"]["Authenticate"];
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
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f",
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
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The current state does not allow this. */
        Conflict: {
            headers: {
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
                 *       "detail": "This Idempotency-Key stood in a request that was not the same.",
                 *       "code": "idempotency_key_reused",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f",
                 *       "faults": [
                 *         {
                 *           "pointer": "header/idempotency-key",
                 *           "rule": "key_reused",
                 *           "detail": "Use a new key for a new request."
                 *         }
                 *       ]
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such thing, or it is not the caller's. */
        NotFound: {
            headers: {
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
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `If-Match` does not name the present version, or `If-None-Match` does. */
        PreconditionFailed: {
            headers: {
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
                 *       "detail": "The present version is \"2\"; read it and try again.",
                 *       "code": "precondition_failed",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description Nothing was granted: the callback is not known or no longer (404), a browser fetched it ahead of time (409), or any
         *     other problem. The page says the same.
         */
        NotGranted: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                Allow: components["headers"]["Allow"];
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
                 *       "detail": "The callback URL may have expired, or its question was closed. The subscriber can ask for another handshake, which\noffers a new one.",
                 *       "code": "callback_unknown",
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
                "text/html": string;
            };
        };
        /**
         * @description Nothing was granted: the rate is malformed (`callback_rate_malformed`), or another origin is named or the call has no
         *     key (`invalid_request`). The page says the same.
         */
        MalformedGrant: {
            headers: {
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
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f",
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
         * @description There is no way on from this cursor: `cursor_too_old` (changes after it have been forgotten) or
         *     `cursor_of_other_history` (the database was restored, or failed over to a standby). Take a new snapshot.
         */
        Gone: {
            headers: {
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
                 *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description How many entries a page holds at the most. */
        Limit: number;
        /** @description Where the page begins; taken from the `Link` header of the page before. One of another list is refused. */
        Cursor: string;
        /**
         * @description Names this request. The same key with the same request again, within a day, answers with what the first one created
         *     (`Idempotency-Replayed: true`) and creates nothing; with another request it answers 409. In what order a body has
         *     its members does not matter.
         */
        IdempotencyKey: string;
        /**
         * @description `wait=N` (RFC 7240 section 4.3): wait up to N seconds, at most 30, for the handshake before answering; 5 if absent.
         *     `respond-async`: do not wait.
         */
        Prefer: string;
        /** @description The id of a subscription. One that is not the caller's answers 404. */
        SubscriptionId: string;
        /** @description The `ETag` of the version that the change is meant for. Another version answers 412 and nothing changes. */
        IfMatch: string;
        /** @description The id of a handshake. */
        HandshakeId: string;
        /** @description The id of a grant. */
        GrantId: string;
        /** @description The DNS expression of the sending system. */
        OriginName: string;
        /** @description Only what is of this origin. */
        OnlyOrigin: string;
    };
    requestBodies: never;
    headers: {
        /** @description The version of this contract, in full. */
        "API-Version": string;
        /**
         * @description The `requestid` of a problem and of the log.
         * @example 0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f
         */
        "X-Request-Id": string;
        /** @description Seconds to wait before trying again. */
        RetryAfter: string;
        /** @description The methods of this resource, with 405. */
        Allow: string;
        /** @description The next page as `<...>; rel="next"` (RFC 8288), if there is one. */
        Link: string;
        /** @description How to authenticate, and why a token did not do (RFC 6750 section 3). */
        Authenticate: string;
        /** @description Where the new resource is. */
        Location: string;
        /**
         * @description The version of what was written; for `If-Match`. The state of the handshake is not part of it.
         * @example "1"
         */
        ETag: string;
        /** @description `true` if the key was used before and nothing was created now. */
        Replayed: string;
        /** @description Changes when the answer does; for `If-None-Match`. */
        AnswerTag: string;
        /**
         * @description Seconds since this process last knew its memory to be current (RFC 9111 section 5.1): the database does not answer,
         *     or the replica that the process follows has lost its primary or is behind it. Of a snapshot, which is read from the
         *     database, only the latter. Absent while it is current, and 2147483648 where nobody knows, because the replica was
         *     started while its primary is away.
         */
        Age: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getSubscriptions: {
        parameters: {
            query?: {
                /** @description Exactly this source. */
                source?: string;
                /** @description `types` holds exactly this type. */
                type?: string;
                /** @description Exactly this subject. */
                subject?: string;
                /** @description Exactly this sink. */
                sink?: string;
                /** @description Exactly this origin. */
                origin?: string;
                /** @description Of this client. */
                subscriber?: string;
                /** @description Those that are in this status now. */
                status?: components["schemas"]["SubscriptionStatus"];
                /** @description How many entries a page holds at the most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page begins; taken from the `Link` header of the page before. One of another list is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of subscriptions. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
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
                /**
                 * @description Names this request. The same key with the same request again, within a day, answers with what the first one created
                 *     (`Idempotency-Replayed: true`) and creates nothing; with another request it answers 409. In what order a body has
                 *     its members does not matter.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description `wait=N` (RFC 7240 section 4.3): wait up to N seconds, at most 30, for the handshake before answering; 5 if absent.
                 *     `respond-async`: do not wait.
                 */
                Prefer?: components["parameters"]["Prefer"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "source": "urn:nld:oin:00000001823288444000:systeem:BRP-component",
                 *       "types": [
                 *         "nl.overheid.zaken.zaakstatus-gewijzigd"
                 *       ],
                 *       "sink": "https://webhook.example.com/events",
                 *       "protocol": "HTTP"
                 *     }
                 */
                "application/json": components["schemas"]["SubscriptionRequest"];
            };
        };
        responses: {
            /** @description Registered. */
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
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            /**
             * @description The token's scopes do not allow this (`scope_missing`), the tenant has as many subscriptions as it may have
             *     (`quota_exceeded`), or the filters cost more than the subscriber or the tenant may have
             *     (`filters_too_expensive`; a change of filters is refused in the same way).
             */
            403: {
                headers: {
                    "WWW-Authenticate": components["headers"]["Authenticate"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "urn:problem-type:assent:quota_exceeded",
                     *       "title": "The tenant has reached its quota of subscriptions.",
                     *       "status": 403,
                     *       "detail": "The tenant has 1000000 subscriptions, which is all it may have.",
                     *       "code": "quota_exceeded",
                     *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f"
                     *     }
                     */
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
            header?: never;
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
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
                /** @description The `ETag` of the version that the change is meant for. Another version answers 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /**
                 * @description `wait=N` (RFC 7240 section 4.3): wait up to N seconds, at most 30, for the handshake before answering; 5 if absent.
                 *     `respond-async`: do not wait.
                 */
                Prefer?: components["parameters"]["Prefer"];
            };
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "types": [
                 *         "com.example.order.created"
                 *       ],
                 *       "filters": [
                 *         {
                 *           "prefix": {
                 *             "subject": "orders/"
                 *           }
                 *         }
                 *       ],
                 *       "sink": "https://webhook.example.com/events",
                 *       "protocol": "HTTP"
                 *     }
                 */
                "application/json": components["schemas"]["SubscriptionRequest"];
            };
        };
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
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
                /** @description The `ETag` of the version that the change is meant for. Another version answers 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
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
                /** @description The `ETag` of the version that the change is meant for. Another version answers 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /**
                 * @description `wait=N` (RFC 7240 section 4.3): wait up to N seconds, at most 30, for the handshake before answering; 5 if absent.
                 *     `respond-async`: do not wait.
                 */
                Prefer?: components["parameters"]["Prefer"];
            };
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "subject": "123456789",
                 *       "filters": null
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["SubscriptionPatch"];
            };
        };
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
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
                /** @description The `ETag` of the version that the change is meant for. Another version answers 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "Maintenance until Monday."
                 *     }
                 */
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
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
                /** @description The `ETag` of the version that the change is meant for. Another version answers 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /**
                 * @description `wait=N` (RFC 7240 section 4.3): wait up to N seconds, at most 30, for the handshake before answering; 5 if absent.
                 *     `respond-async`: do not wait.
                 */
                Prefer?: components["parameters"]["Prefer"];
            };
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "Maintenance is over."
                 *     }
                 */
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
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
            /** @description The token's scopes do not allow this (`scope_missing`), or an admin suspended it (`suspended_by_admin`). */
            403: {
                headers: {
                    "WWW-Authenticate": components["headers"]["Authenticate"];
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
                     *       "detail": "An admin suspended this subscription, and only an admin resumes it.",
                     *       "code": "suspended_by_admin",
                     *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f"
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
                /** @description How many entries a page holds at the most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page begins; taken from the `Link` header of the page before. One of another list is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
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
                 * @description Names this request. The same key with the same request again, within a day, answers with what the first one created
                 *     (`Idempotency-Replayed: true`) and creates nothing; with another request it answers 409. In what order a body has
                 *     its members does not matter.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description `wait=N` (RFC 7240 section 4.3): wait up to N seconds, at most 30, for the handshake before answering; 5 if absent.
                 *     `respond-async`: do not wait.
                 */
                Prefer?: components["parameters"]["Prefer"];
            };
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The handshake, with the attempts made so far. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Replayed"];
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
            header?: never;
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
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
            header?: never;
            path: {
                /** @description The id of a subscription. One that is not the caller's answers 404. */
                id: components["parameters"]["SubscriptionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts and the present state. */
            200: {
                headers: {
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
    grantByGet: {
        parameters: {
            query: {
                /** @description The secret of the callback URL. */
                key: string;
            };
            header?: {
                /** @description The origin that asked, or `*`; absent means the same. The permission is not given if it is another one. */
                "WebHook-Allowed-Origin"?: string;
                /** @description Requests per minute, or `*`. Absent means the rate that was asked for, or the origin's default where none was. */
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
            /** @description What was decided, or the page. */
            200: {
                headers: {
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
                /** @description The secret of the callback URL. */
                key: string;
            };
            header?: {
                /** @description The origin that asked, or `*`; absent means the same. The permission is not given if it is another one. */
                "WebHook-Allowed-Origin"?: string;
                /** @description Requests per minute, or `*`. Absent means the rate that was asked for, or the origin's default where none was. */
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
                /**
                 * @example {
                 *       "decision": "allow",
                 *       "rate": "60"
                 *     }
                 */
                "application/x-www-form-urlencoded": components["schemas"]["CallbackForm"];
            };
        };
        responses: {
            /** @description What was decided, or the page. */
            200: {
                headers: {
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
    getPermission: {
        parameters: {
            query: {
                /** @description The sending system. */
                origin: string;
                /** @description The exact address that it would send to. */
                sink: string;
            };
            header?: {
                /** @description The `ETag` of an answer that is kept. While the answer is the same, 304 says so and has no body. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer; `allowed` says yes or no. */
            200: {
                headers: {
                    ETag: components["headers"]["AnswerTag"];
                    Age: components["headers"]["Age"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "origin": "eventemitter.example.com",
                     *       "sink": "https://webhook.example.com/events",
                     *       "allowed": true,
                     *       "allowedrate": 120,
                     *       "expiresat": "2026-11-30T12:00:00.000Z",
                     *       "basis": "response",
                     *       "grant": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f"
                     *     }
                     */
                    "application/json": components["schemas"]["Permission"];
                };
            };
            /** @description As before. */
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
                /**
                 * @example [
                 *       {
                 *         "origin": "eventemitter.example.com",
                 *         "sink": "https://webhook.example.com/events"
                 *       }
                 *     ]
                 */
                "application/json": components["schemas"]["PermissionQuestion"][];
            };
        };
        responses: {
            /** @description One answer for each pair, in order. */
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
    reportOutcomes: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Names this request. The same key with the same request again, within a day, answers with what the first one created
                 *     (`Idempotency-Replayed: true`) and creates nothing; with another request it answers 409. In what order a body has
                 *     its members does not matter.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example [
                 *       {
                 *         "origin": "eventemitter.example.com",
                 *         "sink": "https://webhook.example.com/events",
                 *         "status": 204,
                 *         "count": 25
                 *       },
                 *       {
                 *         "origin": "eventemitter.example.com",
                 *         "sink": "https://webhook.example.com/busy",
                 *         "status": 429,
                 *         "retryafter": "120"
                 *       },
                 *       {
                 *         "origin": "eventemitter.example.com",
                 *         "sink": "https://webhook.example.com/down",
                 *         "status": "error"
                 *       }
                 *     ]
                 */
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
                    /**
                     * @example [
                     *       {
                     *         "accepted": true
                     *       },
                     *       {
                     *         "accepted": true
                     *       },
                     *       {
                     *         "accepted": false,
                     *         "faults": [
                     *           {
                     *             "pointer": "/2/sink",
                     *             "rule": "no_grant",
                     *             "detail": "The origin never had a grant for this sink."
                     *           }
                     *         ]
                     *       }
                     *     ]
                     */
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
    takeLease: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "origin": "eventemitter.example.com",
                 *       "sink": "https://webhook.example.com/events",
                 *       "instance": "mailroom-1",
                 *       "requests": 5,
                 *       "returns": [
                 *         {
                 *           "lease": "0197f3c2-4a5b-4c6d-8e9f-0a1b2c3d4e5f.11",
                 *           "unused": 2
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["LeaseRequest"];
            };
        };
        responses: {
            /** @description Nothing at present, or no lease is needed. */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "origin": "eventemitter.example.com",
                     *       "sink": "https://webhook.example.com/events",
                     *       "requests": 0,
                     *       "allowedrate": 600,
                     *       "retryafter": 0.42
                     *     }
                     */
                    "application/json": components["schemas"]["Lease"];
                };
            };
            /** @description A share. */
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
             * @description The token's scopes do not allow this (`scope_missing`), or the origin may not send there (`not_permitted`):
             *     the rule of the fault at `/sink` is the reason, as look-ups of permissions name it.
             */
            403: {
                headers: {
                    "WWW-Authenticate": components["headers"]["Authenticate"];
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
                     *       "detail": "An admin took the grant away.",
                     *       "code": "not_permitted",
                     *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f",
                     *       "faults": [
                     *         {
                     *           "pointer": "/sink",
                     *           "rule": "revoked",
                     *           "detail": "An admin took the grant away."
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
                 * @description How many requests of the lease were not sent and will not be. The lease is over then, and what is not handed
                 *     back counts as sent; so this may be sent again where the answer was lost.
                 */
                unused: number;
            };
            header?: never;
            path: {
                /** @description The `lease` of the answer that gave it. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What came back. */
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
    getGrants: {
        parameters: {
            query?: {
                /** @description Exactly this origin. */
                origin?: string;
                /** @description Exactly this sink. */
                sink?: string;
                /** @description Those that are in this state now. */
                state?: "live" | "expired" | "ended" | "revoked";
                /** @description How many entries a page holds at the most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page begins; taken from the `Link` header of the page before. One of another list is refused. */
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
                /**
                 * @description Names this request. The same key with the same request again, within a day, answers with what the first one created
                 *     (`Idempotency-Replayed: true`) and creates nothing; with another request it answers 409. In what order a body has
                 *     its members does not matter.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "origin": "eventemitter.example.com",
                 *       "sink": "https://webhook.example.com/events",
                 *       "allowedrate": 300,
                 *       "expiresat": "2027-11-20T00:00:00Z",
                 *       "reference": "Agreement 2026-0815"
                 *     }
                 */
                "application/json": components["schemas"]["GrantRequest"];
            };
        };
        responses: {
            /** @description Recorded. */
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
                /** @description The `ETag` of the version that the change is meant for. Another version answers 412 and nothing changes. */
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
                /**
                 * @example {
                 *       "reason": "The webhook's owner complained."
                 *     }
                 */
                "application/json": components["schemas"]["Reason"];
            };
        };
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
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    releaseGrant: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the version that the change is meant for. Another version answers 412 and nothing changes. */
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
            412: components["responses"]["PreconditionFailed"];
            default: components["responses"]["Problem"];
        };
    };
    getOrigins: {
        parameters: {
            query?: {
                /** @description How many entries a page holds at the most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page begins; taken from the `Link` header of the page before. One of another list is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of origins, by name. */
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
                /**
                 * @description Names this request. The same key with the same request again, within a day, answers with what the first one created
                 *     (`Idempotency-Replayed: true`) and creates nothing; with another request it answers 409. In what order a body has
                 *     its members does not matter.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "eventemitter.example.com",
                 *       "isdefault": true,
                 *       "requestedrate": 120
                 *     }
                 */
                "application/json": components["schemas"]["OriginRequest"];
            };
        };
        responses: {
            /** @description Registered. */
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
                /** @description The DNS expression of the sending system. */
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
                /** @description The `ETag` of the version that the change is meant for. Another version answers 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The DNS expression of the sending system. */
                name: components["parameters"]["OriginName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "isdefault": true,
                 *       "requestedrate": 120,
                 *       "leaseseconds": 604800
                 *     }
                 */
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
                /** @description The `ETag` of the version that the change is meant for. Another version answers 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The DNS expression of the sending system. */
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
                /** @description The `ETag` of the version that the change is meant for. Another version answers 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The DNS expression of the sending system. */
                name: components["parameters"]["OriginName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "judgement": "lenient",
                 *       "unsupportedrate": null
                 *     }
                 */
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
    matchEvent: {
        parameters: {
            query?: {
                /** @description The sending system; the tenant's default if absent. */
                origin?: string;
                /** @description Also tell why each subscription did or did not match: all for admins, their own for subscribers, who see no sinks. An answer has a thousand explanations at most, of the oldest subscriptions; the events of a batch share them evenly. */
                explain?: boolean;
                /** @description Wait until this revision is known, at most five seconds. */
                minRevision?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "specversion": "1.0",
                 *       "id": "f3dce042-cd6e-4977-844d-05be8dce7cea",
                 *       "source": "urn:nld:oin:00000001823288444000:systeem:BRP-component",
                 *       "type": "nl.overheid.zaken.zaakstatus-gewijzigd"
                 *     }
                 */
                "application/cloudevents+json": components["schemas"]["CloudEvent"];
                /**
                 * @example [
                 *       {
                 *         "specversion": "1.0",
                 *         "id": "f3dce042-cd6e-4977-844d-05be8dce7cea",
                 *         "source": "urn:nld:oin:00000001823288444000:systeem:BRP-component",
                 *         "type": "nl.overheid.zaken.zaakstatus-gewijzigd"
                 *       },
                 *       {
                 *         "specversion": "1.0",
                 *         "id": "2",
                 *         "source": "BRP component",
                 *         "type": "nl.overheid.zaken.zaakstatus-gewijzigd"
                 *       }
                 *     ]
                 */
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
            /** @description The filters take more steps than one message may have (`match_too_expensive`). */
            422: {
                headers: {
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
                     *       "detail": "The filters take more than 500,000,000 steps for this message, those of subscription\n0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f the most of them.\n",
                     *       "code": "match_too_expensive",
                     *       "requestid": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f",
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
    testFilter: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": {
                 *         "specversion": "1.0",
                 *         "id": "1",
                 *         "source": "/cases",
                 *         "type": "com.example.case.created",
                 *         "subject": "123"
                 *       },
                 *       "filters": [
                 *         {
                 *           "prefix": {
                 *             "type": "com.example."
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["FilterTest"];
            };
        };
        responses: {
            /** @description Whether it holds. */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "matched": true
                     *     }
                     */
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
    validateEvent: {
        parameters: {
            query?: {
                /** @description The rules that the event is held against. `cloudevents` if absent. */
                profile?: components["schemas"]["Profile"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "specversion": "1.0",
                 *       "id": "f3dce042-cd6e-4977-844d-05be8dce7cea",
                 *       "source": "urn:nld:oin:00000001823288444000:systeem:BRP-component",
                 *       "type": "nl.overheid.zaken.zaakstatus-gewijzigd"
                 *     }
                 */
                "application/cloudevents+json": components["schemas"]["CloudEvent"];
                /**
                 * @example [
                 *       {
                 *         "specversion": "1.0",
                 *         "id": "1",
                 *         "source": "https://cases.example.com",
                 *         "type": "com.example.case.created"
                 *       }
                 *     ]
                 */
                "application/cloudevents-batch+json": components["schemas"]["CloudEvent"][];
                "*/*": unknown;
            };
        };
        responses: {
            /** @description What holds and what does not. */
            200: {
                headers: {
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "profile": "cloudevents",
                     *       "valid": true,
                     *       "events": [
                     *         {
                     *           "valid": true,
                     *           "faults": [],
                     *           "warnings": []
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Validation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
    getSnapshot: {
        parameters: {
            query?: {
                /** @description Only what is of this origin. */
                origin?: components["parameters"]["OnlyOrigin"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description JSON lines. The schema is that of one line. */
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
                 * @description Where to go on. If absent, from the present end, so the first page is empty and has a cursor. A cursor that
                 *     was given for one `origin` goes on with that one only: with another one, or with none, the answer is 400
                 *     (`cursor_of_other_origin`), because what happened to others was not seen.
                 */
                after?: string;
                /** @description Only what is of this origin. */
                origin?: components["parameters"]["OnlyOrigin"];
                /** @description How many changes a page holds at the most. A page may hold fewer although there are more. */
                limit?: number;
                /** @description Seconds to wait for a change if there is none; a stream always waits. */
                wait?: number;
            };
            header?: {
                /** @description The id of the last event that a client of a stream has seen; it counts instead of `after`. */
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
                    /**
                     * @example {
                     *       "changes": [
                     *         {
                     *           "cursor": "AZqP5tHQQ0CQacKvBl0ingAAAAAAAAAraEjXnt9CoqL3CWx8PwFPCQ",
                     *           "revision": "43",
                     *           "at": "2026-11-21T12:00:00.000Z",
                     *           "kind": "grant.revoked",
                     *           "origin": "eventemitter.example.com",
                     *           "sink": "https://webhook.example.com/events",
                     *           "state": {
                     *             "id": "0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e60",
                     *             "origin": "eventemitter.example.com",
                     *             "sink": "https://webhook.example.com/events",
                     *             "state": "revoked",
                     *             "basis": "response",
                     *             "allowedrate": "120",
                     *             "expiresat": "2026-11-30T12:00:00.000Z",
                     *             "helduntil": null
                     *           }
                     *         }
                     *       ],
                     *       "cursor": "AZqP5tHQQ0CQacKvBl0ingAAAAAAAAAraEjXnt9CoqL3CWx8PwFPCQ",
                     *       "more": false
                     *     }
                     */
                    "application/json": components["schemas"]["ChangePage"];
                    /**
                     * @example retry: 1000
                     *     id: AZqP...
                     *     event: heartbeat
                     *     data: {"revision":"42","more":true}
                     *
                     *     id: AZqP...
                     *     event: grant.revoked
                     *     data: {"cursor":"AZqP...","revision":"43","at":"2026-11-21T12:00:00.000Z","kind":"grant.revoked", ...}
                     *
                     *     id: AZqP...
                     *     event: heartbeat
                     *     data: {"revision":"43","more":false}
                     */
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
    getAudit: {
        parameters: {
            query?: {
                /** @description For example `subscription:` and an id. */
                target?: string;
                /** @description Exactly this actor. */
                actor?: string;
                /** @description How many entries a page holds at the most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page begins; taken from the `Link` header of the page before. One of another list is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    "API-Version": components["headers"]["API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntry"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            default: components["responses"]["Problem"];
        };
    };
}
