import type { ProviderName } from "../contract/session.ts";
import type { Provider } from "./provider.ts";

/** The providers that this server can use. */
export interface Sandboxes {
  /** The provider of sessions that do not name one. */
  readonly defaultName: ProviderName;
  /** Null when it is not available on this server. */
  get(name: ProviderName): Provider | null;
  all(): readonly Provider[];
  close(): Promise<void>;
}

/** @param providers the first is the default */
export function sandboxesOf(providers: readonly Provider[]): Sandboxes {
  return {
    defaultName: providers[0]?.name ?? "local",
    get: (name) => providers.find((provider) => provider.name === name) ?? null,
    all: () => providers,
    async close() {
      await Promise.all(providers.map((provider) => provider.close()));
    },
  };
}
