import { Button } from "./button.tsx";

interface Props {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
}

/** Asks for the rest of a list, where there is one. */
export function More({ list }: Props) {
  if (!list.hasNextPage) return null;
  return (
    <div className="mt-4">
      <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}
