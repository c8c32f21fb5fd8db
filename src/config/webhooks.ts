import { Type } from "typebox";
import type { Webhook } from "../deliveries/webhooks.ts";
import { DELIVERED_KINDS } from "../deliveries/consumer.ts";
import type { EventKind } from "../events/event.ts";
import { isPrivateAddress } from "../lib/addresses.ts";
import { complete, TEXT, withDefault, type Written } from "../lib/setting.ts";
import { ConfigurationError } from "./configuration-error.ts";

export const WEBHOOK_SETTINGS = {
  /** An http or https URL without a password. Must be given. */
  url: TEXT,
  /** `whsec_` and at least 24 bytes in base64: `echo whsec_$(openssl rand -base64 32)`. Must be given. */
  secret: Type.String(),
  /** The announced kinds of events. PERMISSION_REQUIRED, PERMISSION_DECIDED and PERMISSION_CLOSED if omitted. */
  kinds: withDefault(Type.Unsafe<readonly EventKind[]>({ type: "array", minItems: 1, items: { enum: DELIVERED_KINDS } }), [
    "PERMISSION_REQUIRED",
    "PERMISSION_DECIDED",
    "PERMISSION_CLOSED",
  ]),
  /** Announces only events of this tenant. Those of all tenants if omitted. */
  tenant: withDefault(TEXT, null),
  /** True if the target may be in a private network or on this machine. False if omitted: such a target is refused. */
  allowPrivateTarget: withDefault(Type.Boolean(), false),
};

export type WebhookConfig = Written<typeof WEBHOOK_SETTINGS>;

const SECRET_BYTES = 24;

export function webhookOf(field: string, name: string, config: WebhookConfig, publicUrl: string | null): Webhook {
  const { url: address, secret, kinds, tenant, allowPrivateTarget: allowsPrivate } = complete(WEBHOOK_SETTINGS, config);
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new ConfigurationError(`${field}.url must be an http or https URL`);
  if (url.username !== "" || url.password !== "")
    throw new ConfigurationError(`${field}.url must not hold a password: targets check the signature`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (!allowsPrivate && (isPrivateAddress(host) || host === "localhost"))
    throw new ConfigurationError(
      `${field}.url leads to a private network or this machine: set allowPrivateTarget if that is meant`,
    );
  const key = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  if (key === undefined || Buffer.from(key, "base64").length < SECRET_BYTES)
    throw new ConfigurationError(
      `${field}.secret must be whsec_ and at least ${SECRET_BYTES} bytes in base64: echo whsec_$(openssl rand -base64 32)`,
    );
  return { name, url, secret, kinds, tenant, allowsPrivate, publicUrl };
}
