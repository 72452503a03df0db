// What comes before what: the first picture, the ground below it, and then what is not seen yet. On a slow line all at once
// would keep the picture waiting.
import { computed, effect, signal } from "@preact/signals";

/** Whether there has been a picture with values, or none is to be had. */
export const hadPicture = signal(false);
/** Whether the outlines have come, or are not to be had. */
export const hadGround = signal(false);
/** Whether it is the turn of the rest. */
export const isRestDue = computed(() => hadPicture.value && hadGround.value);

export const untilRestIsDue = (): Promise<void> =>
  new Promise((resolve) => {
    const stop = effect(() => {
      if (isRestDue.value) queueMicrotask(() => (stop(), resolve()));
    });
  });
