import type { Author } from "../../src/contract/author.ts";
import { Visible } from "./visible.tsx";

/** Who did something: a person, an agent on behalf of one, or a script by the name of its token. */
export function AuthorName({ author }: { author: Author | null }) {
  if (author === null) return <>somebody</>;
  const name = <Visible>{author.name || "somebody"}</Visible>;
  if (author.kind === "agent") return <>an agent for {name}</>;
  return author.kind === "token" ? <>the token {name}</> : name;
}
