import { useEffect, useState } from 'preact/hooks';
import { lostConnection } from '../app/api.js';
import { t } from '../app/text.js';
import { commonTexts } from '../texts/common.js';
import type { Page, Place } from '../pages/index.js';
import { ProblemView } from './problem.js';

const loaded = new Map<Place, Page>();

/** A page whose part of the script is loaded when it is opened for the first time. */
export function LoadedPage({ place, id }: { place: Place; id: string | undefined }) {
  const [, setTurn] = useState(0);
  const [isLost, setIsLost] = useState(false);
  useEffect(() => {
    if (loaded.has(place)) return;
    place.load().then(
      (page) => {
        loaded.set(place, page);
        setTurn((before) => before + 1);
      },
      () => setIsLost(true),
    );
  }, [place, isLost]);
  const Shown = loaded.get(place);
  if (Shown !== undefined) return <Shown key={id ?? ''} id={id} />;
  // A browser does not load a module again that it could not load once.
  if (isLost) return <ProblemView problem={lostConnection} onRetry={() => location.reload()} />;
  return (
    <p class="soft" role="status">
      {t(commonTexts.loading)}
    </p>
  );
}
