// Runs on every documentation page, which works without it: tabs for samples, copy buttons and search suggestions.
(() => {
  const root = document.documentElement;
  const remembered = localStorage.getItem('docs-language');
  // Before the first paint, so that nothing moves when the tabs replace the list of samples.
  root.dataset.language = remembered ?? '';
  root.dataset.script = '';

  function chooseLanguage(language) {
    root.dataset.language = language;
    localStorage.setItem('docs-language', language);
    markChoices();
  }

  /** A group without the remembered language shows its first sample. */
  function markChoices() {
    for (const group of document.querySelectorAll('.tabs')) {
      const buttons = [...group.querySelectorAll('.choices button')];
      const current = buttons.find((button) => button.dataset.language === root.dataset.language) ?? buttons[0];
      for (const button of buttons) button.setAttribute('aria-pressed', String(button === current));
    }
  }

  function addCopyButton(figure) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('code').textContent);
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
    figure.append(button);
  }

  function suggest(input, list) {
    let timer = 0;
    let query = '';
    let current = -1;
    const close = () => {
      list.hidden = true;
      input.setAttribute('aria-expanded', 'false');
      input.removeAttribute('aria-activedescendant');
      current = -1;
    };
    const select = (index) => {
      const options = [...list.children];
      current = (index + options.length) % options.length;
      for (const [place, option] of options.entries()) option.setAttribute('aria-selected', String(place === current));
      input.setAttribute('aria-activedescendant', options[current].id);
      options[current].scrollIntoView({ block: 'nearest' });
    };
    const show = (hits) => {
      list.replaceChildren(
        ...hits.map(({ title, heading, path }, index) => {
          const option = document.createElement('a');
          option.id = `suggestion-${index}`;
          option.role = 'option';
          option.tabIndex = -1;
          option.href = path;
          const name = document.createElement('strong');
          name.textContent = heading;
          option.append(name, title === heading ? '' : ` ${title}`);
          option.setAttribute('aria-selected', 'false');
          return option;
        }),
      );
      current = -1;
      list.hidden = hits.length === 0;
      input.setAttribute('aria-expanded', String(hits.length > 0));
    };
    const ask = async () => {
      const text = input.value.trim();
      if (text === query) return;
      query = text;
      if (text.length < 2) return close();
      const response = await fetch(`/docs/search.json?q=${encodeURIComponent(text)}`);
      // A newer query may have been answered first.
      if (response.ok && text === query) show((await response.json()).data);
    };
    input.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(ask, 150);
    });
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') close();
      if (list.hidden) return;
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        event.preventDefault();
        select(event.key === 'ArrowDown' ? current + 1 : current < 0 ? -1 : current - 1);
      }
      if (event.key === 'Enter' && current >= 0) {
        event.preventDefault();
        list.children[current].click();
      }
    });
    input.addEventListener('blur', (event) => {
      if (!list.contains(event.relatedTarget)) close();
    });
  }

  document.addEventListener('DOMContentLoaded', () => {
    markChoices();
    for (const figure of document.querySelectorAll('figure')) addCopyButton(figure);
    document.addEventListener('click', ({ target }) => {
      const button = target.closest?.('.choices button');
      if (button) chooseLanguage(button.dataset.language);
    });
    const input = document.querySelector('header input');
    suggest(input, document.getElementById('suggestions'));
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.target.closest('input, textarea, select')) return;
      event.preventDefault();
      input.focus();
    });
  });
})();
