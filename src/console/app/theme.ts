import { signal } from '@preact/signals';

export const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const stored = 'assent.theme';

/** Light or dark, as the user chose, or as the system has it. */
export const theme = signal<Theme>(themes.find((each) => each === localStorage.getItem(stored)) ?? 'system');
show();

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  if (chosen === 'system') localStorage.removeItem(stored);
  else localStorage.setItem(stored, chosen);
  show();
}

function show(): void {
  if (theme.value === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
}
