// The feeds of the record and whether they are late, as the service says it.
import { computed, signal } from "@preact/signals";

import { askJson, observations } from "../api/client";
import type { Feed } from "../api/types";

export const feeds = signal<readonly Feed[] | undefined>(undefined);
export const lateFeeds = computed(() => feeds.value?.filter(({ late }) => late) ?? []);

export async function loadFeeds(): Promise<void> {
  feeds.value = (await askJson<{ feeds: Feed[] }>(observations("/feeds"))).feeds;
}
