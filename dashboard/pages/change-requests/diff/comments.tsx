import { type RefObject, useCallback, useMemo, useState } from "react";
import { LineThreads } from "../line-threads.tsx";
import type { Where } from "../queries.ts";
import type { Thread } from "../threads.ts";
import type { DiffListHandle } from "./diff-list.tsx";
import type { Place } from "./rows.ts";
import { placeKey, threadsByPath, useThreadsByPlace } from "./threads.ts";

/**
 * The threads of a diff and the comments that are being written.
 * @returns `byPath`: the lines that have one; `show` renders those of a line; `compose` begins a comment
 */
export function useLineComments(
  where: Where,
  threads: readonly Thread[],
  list: RefObject<DiffListHandle | null>,
) {
  const byPlace = useThreadsByPlace(threads);
  const [composing, setComposing] = useState<readonly Place[]>([]);
  const byPath = useMemo(() => threadsByPath(byPlace, composing), [byPlace, composing]);
  const compose = useCallback(
    (place: Place) => setComposing((before) => [...without(before, place), place]),
    [],
  );
  const show = (place: Place) => (
    <LineThreads
      where={where}
      place={place}
      threads={byPlace.get(placeKey(place)) ?? []}
      isComposing={composing.some((each) => placeKey(each) === placeKey(place))}
      onClose={() => {
        setComposing((before) => without(before, place));
        list.current?.focusLine(place);
      }}
    />
  );
  return { byPath, show, compose };
}

function without(places: readonly Place[], place: Place): Place[] {
  return places.filter((each) => placeKey(each) !== placeKey(place));
}
