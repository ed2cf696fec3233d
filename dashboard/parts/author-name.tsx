import type { Author } from "../../src/contract/author.ts";
import { Visible } from "./visible.tsx";

/** A person, an agent that acts for one, or a script, by the name of its token. */
export function AuthorName({ author }: { author: Author | null }) {
  if (author === null) return <>an unknown user</>;
  const name = <Visible>{author.name || "an unknown user"}</Visible>;
  if (author.kind === "agent") return <>an agent for {name}</>;
  return author.kind === "token" ? <>the token {name}</> : name;
}
