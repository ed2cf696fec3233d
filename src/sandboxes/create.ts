import type { Config } from "../config.ts";
import type { Provider, ProviderOptions } from "./provider.ts";
import { type Sandboxes, sandboxesOf } from "./sandboxes.ts";

/** Opens the providers that this server can use; the one that new sessions get first. */
export async function createSandboxes(
  _config: Config,
  _options: Pick<ProviderOptions, "installation" | "api">,
): Promise<Sandboxes> {
  const providers: Provider[] = [];
  return sandboxesOf(providers);
}
