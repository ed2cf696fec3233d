import type { Channel } from "../../../src/contract/channel.ts";
import { type Api, path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import { oneLine } from "../../text.ts";

/** Characters of what was typed, in an error. */
const SHOWN_MAX = 80;

/** The connection whose id begins with a text. @throws CliError `not_found` for none, or several */
export async function findChannel(api: Api, projectId: string, name: string): Promise<Channel> {
  const { channels } = await api.call<{ channels: Channel[] }>({
    path: path`/projects/${projectId}/channels`,
  });
  const found = channels.filter(({ channel_id }) => name !== "" && channel_id.startsWith(name.toLowerCase()));
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first;
  const shown = oneLine(name.slice(0, SHOWN_MAX));
  const why = first === undefined ? `There is no channel "${shown}".` : `Several ids begin with "${shown}".`;
  throw new CliError("not_found", why, { hint: "List them with: svc channels ls" });
}

/** What is connected, in words. */
export function placeOf({ team_name, slack_channel }: Channel): string {
  return slack_channel === null ? team_name : `${slack_channel} of ${team_name}`;
}
