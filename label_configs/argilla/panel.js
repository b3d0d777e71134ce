// The panel of potato-bridge in Argilla: it draws an item, and writes one answer into the question beside it.
//
// It runs in the page of a custom field. All that comes from an item, a config or an annotator is put into text nodes,
// never into markup. Argilla puts this file through String.replace: a dollar sign before an ampersand, a quote, a digit
// or another dollar sign would be lost, so there is none.
(function () {
  "use strict";

  // === core: values ===

  const decode = (text) =>
    JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (char) => char.charCodeAt(0))));
  const CONFIG = decode("#CONFIG#");

  // What would break Argilla's page when the answer is opened again is written as escapes.
  const encode = (value) =>
    JSON.stringify(value).replace(/[<>\x24\x26\u2028\u2029]/g, (char) =>
      "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"));

  // The same whatever the order of keys.
  const sorted = (value) => Array.isArray(value) ? value.map(sorted)
    : value && typeof value === "object" ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])])) : value;
  const isSame = (one, two) => JSON.stringify(sorted(one)) === JSON.stringify(sorted(two));

  // A text area makes every line break a newline.
  const plainBreaks = (text) => text.replace(/\r\n?/g, "\n");

  // === core: elements ===

  const HIDDEN =
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufdd0-\ufdef\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;
  const CONTROLS = ("NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC "
    + "FS GS RS US").split(" ");

  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name === "class") element.className = value;
      else if (name === "color") element.style.setProperty("--color", value);
      else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    add(element, children);
    return element;
  }

  function add(element, children) {
    for (const child of children) {
      if (Array.isArray(child)) add(element, child);
      else if (child !== undefined && child !== null && child !== false && child !== "")
        element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
  }

  // Marks that hide text or reorder it are shown by their name or number.
  function text(content) {
    const shown = String(content === undefined ? "" : content).replace(/\r\n/g, "\n");
    HIDDEN.lastIndex = 0;
    if (!HIDDEN.test(shown)) return [shown];
    const nodes = [];
    let last = 0;
    HIDDEN.lastIndex = 0;
    for (let found = HIDDEN.exec(shown); found; found = HIDDEN.exec(shown)) {
      const point = found[0].codePointAt(0);
      const code = "U+" + point.toString(16).toUpperCase().padStart(4, "0");
      nodes.push(shown.slice(last, found.index), h("span", { class: "hidden-char", title: code }, CONTROLS[point] || code));
      last = found.index + found[0].length;
    }
    return [...nodes, shown.slice(last)];
  }

  function fold(summary, make, attributes) {
    // What is folded away is drawn when it is opened.
    const element = h("details", attributes, h("summary", {}, summary));
    element.addEventListener("toggle", () => {
      if (element.open && element.childElementCount === 1) add(element, [make()]);
    });
    return element;
  }

  // === core: cards ===

  function clip(shown, tag) {
    if (!shown) return null;
    const pre = (content) => h(tag || "pre", {}, text(content));
    return [
      pre(shown.head),
      shown.more ? fold("show " + shown.more_lines + " more lines", () => pre(shown.more), { class: "more" }) : null,
      shown.cut_chars
        ? h("p", { class: "cut" }, shown.cut_lines + " lines, " + shown.cut_chars + " characters are left out here")
        : null,
      shown.tail ? pre(shown.tail) : null,
    ];
  }

  const badges = (list) => (list || []).map((badge) => h("span", { class: "badge " + (badge.tone || "") }, text(badge.text)));

  const SIGNS = { a: "+", d: "-", c: " ", h: "", n: "" };

  function diffRow(row, numbered) {
    if (!row) return h("div", { class: "row none" });
    const number = (value) => (numbered ? h("i", {}, value === undefined ? "" : value) : null);
    return h("div", { class: "row " + row.op }, number(row.old), number(row.new), h("span", {}, SIGNS[row.op], text(row.text)));
  }

  function diff(part) {
    const numbered = part.numbered;
    const rows = part.pairs
      ? part.pairs.map(([left, right]) => h("div", { class: "pair" }, diffRow(left, numbered), diffRow(right, numbered)))
      : (part.rows || []).map((row) => diffRow(row, numbered));
    const seen = part.more_from === undefined ? rows.length : part.more_from;
    const rest = rows.slice(seen);
    return h("div", { class: "diff" }, rows.slice(0, seen),
      rest.length ? fold("show " + rest.length + " more lines", () => rest, { class: "more" }) : null,
      part.cut ? h("p", { class: "cut" }, part.cut + " lines are left out here") : null);
  }

  function picture(part) {
    const source = part.data || part.src || "";
    // Nothing but pictures, and nothing but over the web.
    if (/^(data:image\/|https?:\/\/)/.test(source))
      return h("img", { src: source, alt: part.alt || "", loading: "lazy", referrerpolicy: "no-referrer" });
    return h("p", { class: "note" }, text(part.alt));
  }

  const PARTS = {
    prose: (part) => h("div", { class: "prose" }, clip(part.text)),
    reasoning: (part) => fold("reasoning", () => h("div", { class: "reasoning" }, clip(part.text)), { class: "reasoning" }),
    code: (part) => h("div", { class: "code" }, part.label ? h("small", {}, text(part.label)) : null, clip(part.text)),
    terminal: (part) => h("div", { class: "terminal" },
      part.command ? h("div", { class: "command" }, clip(part.command)) : null, clip(part.output)),
    diff,
    picture,
    note: (part) => h("p", { class: "note" }, text(part.text)),
    tool: (part) => h("div", { class: "tool" },
      h("div", { class: "call" }, h("b", { class: "family " + part.family }, part.label), h("code", {}, text(part.name)), " ",
        h("span", { class: "title" }, text(part.title)), " ", h("small", {}, text(part.detail)), badges(part.badges)),
      parts(part.parts)),
    observation: (part) => h("div", { class: "observation" }, badges(part.badges), parts(part.parts)),
    // The steps of a sub-agent have numbers of their own, and are not rated.
    subagent: (part) => fold(text(part.title), () => h("div", { class: "sub" }, (part.cards || []).map((one) => card({ ...one, number: undefined })))),
  };

  const parts = (list) => (list || []).map((part) => (PARTS[part.kind] ? PARTS[part.kind](part) : null));

  const headOf = (one) => [
    one.number === undefined && one.role ? h("span", { class: "role" }, text(one.role)) : null,
    one.number !== undefined && CONFIG.step_numbers ? h("b", {}, "Step " + (one.number + 1)) : null,
    badges(one.badges),
  ];

  function card(one, options) {
    const given = options || {};
    const rated = one.number !== undefined;
    return h("section", { class: "card" + (rated ? " step" : " turn"), "data-step": rated ? one.number : null,
      tabindex: rated && given.focus ? 0 : null },
      headOf(one).flat().some(Boolean) || given.head ? h("header", {}, headOf(one), given.head) : null,
      given.brief ? h("p", { class: "summary" }, text(one.summary)) : parts(one.parts),
      given.foot);
  }

  // === core: the bridge to Argilla's form ===

  const host = (() => {
    try {
      let node = window.frameElement && window.frameElement.__vue__;
      for (; node; node = node.$parent) if (node.$props && node.$props.sdkRecord) return node;
    } catch (error) { /* Another origin: there is no bridge. */ }
    return null;
  })();
  const found = host ? host.$props.sdkRecord : typeof record === "undefined" ? null : record;

  // The form that a question stands in. While Argilla goes from record to record, that of the last one is still there.
  function formOf(view) {
    for (let node = view; node; node = node.$parent)
      if (node.$props && node.$props.record && node.$props.record.questions)
        return { record: node.$props.record, bulk: Boolean(node.$props.isBulkMode) };
    return { record: null, bulk: false };
  }

  function question(name) {
    try {
      const walker = window.parent.document.createTreeWalker(window.parent.document.body, 1);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const view = node.__vue__;
        const asked = view && view.$props && view.$props.question;
        if (!asked || asked.name !== name || !asked.answer) continue;
        const form = formOf(view);
        if (!form.record || form.bulk || form.record.id === found.id) return { asked, node, view, form };
      }
    } catch (error) { /* See above. */ }
    return null;
  }

  // Argilla submits what is valid and keeps what is partly valid as a draft. This says which of the two it is.
  const state = { complete: false, partial: false };
  function guard(answer) {
    const said = () => answer.value !== "" && answer.value !== undefined && answer.value !== null;
    Object.defineProperty(answer, "isValid", { configurable: true, get: () => said() && state.complete });
    Object.defineProperty(answer, "isPartiallyValid", { configurable: true, get: () => said() && state.partial });
  }
  // Its form remembers what it asked before there was a guard: a value that moves makes it ask again.
  function askAgain(answer) {
    const value = answer.value;
    answer.value = value + " ";
    answer.value = value;
  }

  // === core: widgets ===

  const WIDGETS = {};
  const widget = (name, make) => { WIDGETS[name] = make; };
  const shownWidgets = [];

  function answers() {
    const schemes = {};
    for (const one of shownWidgets) {
      const value = one.shown ? one.made.value() : undefined;
      if (value !== undefined) schemes[one.scheme.name] = value;
    }
    return schemes;
  }

  // === rewards ===

  // Brings a card into view; the page knows how, see there.
  let reveal = (element) => element.scrollIntoView({ block: "center" });

  function stepKeys(root, scheme, handle) {
    const steps = () => [...root.querySelectorAll(".card.step")].filter((one) => !one.parentElement.closest(".card"));
    const move = (by) => {
      const all = steps();
      const now = all.findIndex((one) => one.classList.contains("current"));
      const next = all[Math.min(Math.max(now + by, 0), all.length - 1)];
      if (next) select(next, true);
      return Boolean(next);
    };
    const select = (step, scroll) => {
      for (const one of root.querySelectorAll(".current")) one.classList.remove("current");
      step.classList.add("current");
      if (scroll) reveal(step);
    };
    root.addEventListener("mousedown", (event) => {
      const step = event.target.closest(".card.step");
      if (step && root.contains(step)) select(step, false);
    });
    return {
      steps,
      select,
      key(event) {
        if (!scheme.keys) return false;
        if (event.key === scheme.next_key) return move(1);
        if (event.key === scheme.prev_key) return move(-1);
        // A key that is held down is pressed once.
        return event.repeat ? false : handle(event.key, root.querySelector(".card.current"), event.target);
      },
    };
  }

  widget("first_error", (ctx) => {
    const { scheme, payload } = ctx;
    const cards = payload.cards || [];
    const total = cards.filter((one) => one.number !== undefined).length;
    const state = { step: undefined, confirmed: false };
    const marks = [];
    const all = scheme.allow_no_error
      ? h("button", { type: "button", class: "all" }, "All steps correct", scheme.keys ? h("kbd", {}, "0") : null) : null;
    const confirm = h("button", { type: "button", class: "primary confirm" }, "Confirm");
    const ask = h("div", { class: "ask" }, h("span", {}), confirm, scheme.keys ? h("kbd", {}, "Enter") : null);
    const list = h("div", { class: "steps" }, cards.map((one) => {
      if (one.number === undefined) return card(one);
      const mark = h("button", { type: "button", class: "mark", "data-mark": one.number }, "first error?");
      marks[one.number] = mark;
      return card(one, { head: mark, brief: !scheme.show_step_content, focus: true });
    }));
    const root = h("div", { class: "first-error" }, list);

    function draw() {
      for (const mark of marks) {
        const number = Number(mark.dataset.mark);
        const kind = state.step === undefined ? "unmarked" : state.step === null || number < state.step ? "correct"
          : number === state.step ? "error" : "downstream";
        const words = { unmarked: "first error?", correct: scheme.texts.correct, error: scheme.texts.first_error,
          downstream: scheme.texts.downstream }[kind];
        mark.textContent = words;
        mark.dataset.kind = kind;
        mark.closest(".card").style.setProperty("--color", scheme.colors[kind]);
        mark.closest(".card").dataset.kind = kind;
      }
      if (all) all.classList.toggle("chosen", state.step === null);
      ask.hidden = !scheme.require_confirmation || state.step === undefined || state.confirmed;
      ask.firstChild.textContent = state.step === null ? scheme.texts.all_correct + "?"
        : "The first error is step " + (state.step + 1) + "?";
    }
    function choose(step) {
      if (state.step === step) return;
      state.step = step;
      state.confirmed = !scheme.require_confirmation;
      draw();
      ctx.changed();
    }
    function confirmed() {
      if (state.step === undefined || state.confirmed) return false;
      state.confirmed = true;
      draw();
      ctx.changed();
      return true;
    }
    list.addEventListener("click", (event) => {
      // A click inside of an output is for reading it; at the head of a step, or beside its parts, it chooses.
      const step = event.target.closest(".card.step");
      if (!step || step.parentElement !== list) return;
      if (event.target.closest(".mark") || !event.target.closest("pre, details, .tool, .code, .terminal, .diff, a, img"))
        choose(Number(step.dataset.step));
    });
    if (all) all.addEventListener("click", () => choose(null));
    confirm.addEventListener("click", confirmed);
    const keys = stepKeys(list, scheme, (key, current, target) => {
      if (key === "0" && all) { choose(null); return true; }
      if (/^[1-9]$/.test(key) && Number(key) <= total) {
        choose(Number(key) - 1);
        keys.select(marks[Number(key) - 1].closest(".card"), true);
        return true;
      }
      if (key === "Enter") {
        // A button that would say something else than what is chosen is pressed, as everywhere.
        const button = target.closest("button, summary, a");
        if (button && button !== confirm && !(button === all && state.step === null)
          && !(button.dataset.mark !== undefined && Number(button.dataset.mark) === state.step)) return false;
        if (confirmed()) return true;
        if (current) { choose(Number(current.dataset.step)); return true; }
      }
      return false;
    });
    draw();
    return {
      element: root,
      tools: [all, ask],
      key: keys.key,
      value: () => (state.step === undefined ? undefined : { first_error_step: state.step }),
      missing: () => state.step === undefined ? (scheme.required ? ["no step is chosen"] : [])
        : state.confirmed ? [] : ["the choice is not confirmed"],
      load(raw, settled) {
        const step = raw ? raw.first_error_step : undefined;
        const known = step === null ? scheme.allow_no_error && total > 0 : Number.isInteger(step) && step >= 0 && step < total;
        state.step = known ? step : undefined;
        // What was suggested, or left before it was confirmed, is asked about again.
        state.confirmed = known && (settled || !scheme.require_confirmation);
        draw();
      },
      shown: () => state.step === undefined ? null : state.step === null ? "all steps correct"
        : "first error: step " + (state.step + 1),
    };
  });

  widget("per_step", (ctx) => {
    const { scheme, payload } = ctx;
    const cards = payload.cards || [];
    const numbers = cards.filter((one) => one.number !== undefined).map((one) => one.number);
    const labels = new Map(scheme.labels.map((label) => [label.value, label]));
    let steps = {};
    const boxes = [];
    const root = h("div", { class: "per-step steps" }, cards.map((one) => {
      if (one.number === undefined) return card(one);
      const buttons = scheme.labels.map((label) => h("button", { type: "button", class: "label", "data-label": label.value,
        color: label.color, title: (label.score > 0 ? "+" : "") + label.score }, text(label.display),
        label.key ? h("kbd", {}, label.key) : null));
      const more = h("div", { class: "details-of-step" });
      const box = h("div", { class: "rate" }, h("div", { class: "labels" }, buttons), more);
      const made = card(one, { foot: box, focus: true });
      boxes[one.number] = { buttons, more, made };
      return made;
    }));
    const said = (number) => (steps[number] = steps[number] || {});
    function tidy(number) {
      for (const key of Object.keys(steps[number] || {})) if (!steps[number][key]) delete steps[number][key];
      if (steps[number] && !Object.keys(steps[number]).length) delete steps[number];
    }
    function draw(number) {
      const { buttons, more, made } = boxes[number];
      const now = steps[number] || {};
      const label = labels.get(now.label);
      for (const button of buttons) {
        button.classList.toggle("chosen", button.dataset.label === now.label);
        button.setAttribute("aria-pressed", String(button.dataset.label === now.label));
      }
      made.style.setProperty("--color", label ? label.color : "");
      made.dataset.kind = label ? "rated" : "unmarked";
      const asksCategory = label && label.error_category;
      const category = more.querySelector("select");
      if (Boolean(category) !== Boolean(asksCategory) || (!more.childElementCount && (label || now.notes))) {
        more.replaceChildren();
        add(more, [asksCategory ? categoryBox(number) : null, scheme.allow_notes && (label || now.notes) ? notesBox(number) : null]);
      }
    }
    const categoryBox = (number) => {
      const select = h("select", { "aria-label": "Kind of error" }, h("option", { value: "" }, "kind of error …"),
        scheme.error_categories.map((category) => h("option", { value: category }, text(category))));
      select.value = (steps[number] || {}).error_category || "";
      select.addEventListener("change", () => { said(number).error_category = select.value; tidy(number); ctx.changed(); });
      return select;
    };
    const notesBox = (number) => {
      const box = h("textarea", { rows: 2, placeholder: "Notes", "aria-label": "Notes" });
      box.value = (steps[number] || {}).notes || "";
      box.addEventListener("input", () => { said(number).notes = box.value; tidy(number); ctx.changed(); });
      return box;
    };
    function rate(number, value) {
      const label = labels.get(value);
      const now = said(number);
      // Another click takes the label back.
      now.label = now.label === value ? undefined : value;
      if (!now.label || !label.error_category) delete now.error_category;
      tidy(number);
      draw(number);
      ctx.changed();
    }
    root.addEventListener("click", (event) => {
      const button = event.target.closest("button.label");
      if (button) rate(Number(button.closest(".card").dataset.step), button.dataset.label);
    });
    const keys = stepKeys(root, scheme, (key, current) => {
      const label = scheme.labels.find((one) => one.key && one.key === key);
      const step = current || keys.steps()[0];
      if (!label || !step) return false;
      keys.select(step, false);
      rate(Number(step.dataset.step), label.value);
      return true;
    });
    const rated = () => numbers.filter((number) => steps[number] && steps[number].label);
    numbers.forEach(draw);
    return {
      element: root,
      key: keys.key,
      value: () => (Object.keys(steps).length ? { steps } : undefined),
      missing() {
        const left = numbers.filter((number) => !(steps[number] && steps[number].label)).map((number) => number + 1);
        if (!left.length || !scheme.required) return [];
        if (scheme.require_all_steps)
          return ["not rated: step " + left.slice(0, 8).join(", ") + (left.length > 8 ? " and " + (left.length - 8) + " more" : "")];
        return left.length === numbers.length ? ["no step is rated"] : [];
      },
      load(raw) {
        steps = {};
        for (const [number, found] of Object.entries((raw && raw.steps) || {})) {
          if (!boxes[number] || !found || typeof found !== "object") continue;
          const label = labels.get(found.label);
          steps[number] = {
            label: label && label.value,
            error_category: label && label.error_category && scheme.error_categories.includes(found.error_category)
              ? found.error_category : undefined,
            notes: scheme.allow_notes && typeof found.notes === "string" ? found.notes : undefined,
          };
          tidy(number);
        }
        for (const number of numbers) { boxes[number].more.replaceChildren(); draw(number); }
      },
      shown() {
        // Added in hundredths: 0.1 and 0.2 are 0.3.
        const sum = rated().reduce((whole, number) => whole + Math.round(labels.get(steps[number].label).score * 1e6), 0) / 1e6;
        return rated().length + " of " + numbers.length + " steps rated" + (scheme.show_running_score ? ", score " + sum : "");
      },
    };
  });

  // === edit ===

  const SPACE = /(\s+)/;
  const DIFF_WORDS = 1500;

  // The longest common words of two texts: pairs of what is to be done, and the text.
  function wordDiff(before, after) {
    const one = before.split(SPACE), two = after.split(SPACE);
    let start = 0;
    while (start < one.length && start < two.length && one[start] === two[start]) start++;
    let end = 0;
    while (end < one.length - start && end < two.length - start && one[one.length - 1 - end] === two[two.length - 1 - end]) end++;
    const a = one.slice(start, one.length - end), b = two.slice(start, two.length - end);
    const same = (from, to) => (from < to ? [["", one.slice(from, to).join("")]] : []);
    const middle = [];
    if (a.length > DIFF_WORDS || b.length > DIFF_WORDS) {
      middle.push(["del", a.join("")], ["ins", b.join("")]);
    } else {
      const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
      for (let i = a.length - 1; i >= 0; i--)
        for (let j = b.length - 1; j >= 0; j--)
          table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
      let i = 0, j = 0;
      while (i < a.length || j < b.length) {
        if (i < a.length && j < b.length && a[i] === b[j]) { middle.push(["", a[i]]); i++; j++; }
        else if (i < a.length && (j >= b.length || table[i + 1][j] >= table[i][j + 1])) middle.push(["del", a[i++]]);
        else middle.push(["ins", b[j++]]);
      }
    }
    return [...same(0, start), ...middle, ...same(one.length - end, one.length)].filter(([, words]) => words !== "");
  }

  // Levenshtein distance of two lists; null where they are too long to count while somebody writes.
  function distance(one, two) {
    let start = 0;
    while (start < one.length && start < two.length && one[start] === two[start]) start++;
    let end = 0;
    while (end < one.length - start && end < two.length - start && one[one.length - 1 - end] === two[two.length - 1 - end]) end++;
    const a = one.slice(start, one.length - end), b = two.slice(start, two.length - end);
    if (a.length * b.length > 4e6) return null;
    let row = Array.from({ length: b.length + 1 }, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++)
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      row = next;
    }
    return row[b.length];
  }
  const wordsOf = (content) => content.split(/\s+/).filter((word) => word);

  function editor(original, options, changed) {
    const source = plainBreaks(original);
    const box = h("textarea", { class: "edit", spellcheck: "false", rows: Math.min(Math.max(source.split("\n").length, 2), 14),
      "aria-label": "Corrected text" });
    box.value = source;
    const shown = h("pre", { class: "words", hidden: true });
    const counts = h("small", { class: "counts" });
    const reset = options.allow_reset ? h("button", { type: "button", class: "reset", hidden: true }, "Reset") : null;
    const isEdited = () => plainBreaks(box.value) !== source;
    let waiting = 0;
    function draw() {
      const edited = isEdited();
      element.classList.toggle("edited", edited);
      if (reset) reset.hidden = !edited;
      shown.hidden = !(edited && options.show_diff);
      counts.textContent = "";
      if (!edited) return;
      if (options.show_diff) {
        shown.replaceChildren();
        add(shown, wordDiff(source, plainBreaks(box.value)).map(([kind, words]) => (kind ? h(kind, {}, text(words)) : text(words))));
      }
      if (options.show_edit_distance) {
        const now = plainBreaks(box.value);
        const chars = distance([...source], [...now]), words = distance(wordsOf(source), wordsOf(now));
        const counted = (number, unit) => (number === null ? "many " : number + " ") + unit + (number === 1 ? "" : "s");
        counts.textContent = counted(chars, "character") + ", " + counted(words, "word") + " changed";
      }
    }
    box.addEventListener("input", () => {
      // Drawn once where somebody types fast.
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(draw);
      changed();
    });
    const set = (content) => { box.value = content; draw(); };
    if (reset) reset.addEventListener("click", () => { set(source); changed(); });
    const element = h("div", { class: "editor" }, box, h("div", { class: "under" }, reset, counts), shown);
    return { element, box, isEdited, set, source, text: () => plainBreaks(box.value) };
  }

  widget("trajectory_edit", (ctx) => {
    const { scheme, data } = ctx;
    const originals = data.originals || [];
    const fields = originals.map((original, at) => {
      const made = editor(original.text, scheme, () => { draw(at); ctx.changed(); });
      const reason = original.step !== null && scheme.require_reason_on_edit
        ? h("textarea", { class: "reason", rows: 1, placeholder: "Why this change?", "aria-label": "Reason", hidden: true }) : null;
      if (reason) reason.addEventListener("input", () => ctx.changed());
      const heading = original.step === null ? "Final answer"
        : ((CONFIG.step_numbers ? "Step " + (original.step + 1) + ": " : "") + original.field);
      const element = h("section", { class: "field", "data-step": original.step, "data-field": original.field },
        h("h3", {}, text(heading), original.json ? h("small", {}, " JSON") : null), made.element, reason);
      return { original, made, reason, element };
    });
    const draw = (at) => {
      const { made, reason } = fields[at];
      if (reason) reason.hidden = !made.isEdited() && !reason.value;
    };
    const before = data.before || [];
    const root = h("div", { class: "trajectory" },
      fields.map((field, at) => [(before[at] || []).map((one) => card(one)), field.element]),
      (data.rest || []).map((one) => card(one)));
    const edited = () => fields.filter((field) => field.made.isEdited());
    return {
      element: root,
      value() {
        const value = { edits: [] };
        for (const { original, made, reason } of fields) {
          const why = reason ? reason.value : "";
          if (original.step === null) { if (made.isEdited()) value.final_answer = made.text(); }
          else if (made.isEdited() || why) {
            // What was not changed is the original, with its own line breaks.
            const edit = { step: original.step, field: original.field, text: made.isEdited() ? made.text() : original.text };
            if (why) edit.reason = why;
            value.edits.push(edit);
          }
        }
        return value;
      },
      missing: () => edited().filter(({ reason }) => reason && !reason.value.trim())
        .map(({ original }) => "a reason for the change in step " + (original.step + 1) + ", " + original.field),
      load(raw) {
        const edits = raw && Array.isArray(raw.edits) ? raw.edits : [];
        fields.forEach((field, at) => {
          const { original, made, reason } = field;
          const edit = original.step === null ? (raw && typeof raw.final_answer === "string" ? { text: raw.final_answer } : null)
            : edits.find((one) => one && one.step === original.step && one.field === original.field);
          made.set(edit && typeof edit.text === "string" ? plainBreaks(edit.text) : made.source);
          if (reason) reason.value = edit && typeof edit.reason === "string" ? edit.reason : "";
          draw(at);
        });
      },
      shown: () => edited().length + " of " + fields.length + " texts changed",
    };
  });

  // === code review ===

  // Rows that are drawn at once; the others of a file come when it is scrolled to, or asked for.
  const CHUNK = 400;

  widget("code_review", (ctx) => {
    const { scheme, data } = ctx;
    const files = data.files || [];
    const paths = (data.index || []).map(([path]) => path);
    let comments = [];
    let ratings = {};
    let summary = "";
    // Forms that are open; what was begun in one and not saved is not to be lost.
    const open = new Set();
    const begun = () => [...open].filter((one) => one.isBegun()).length;
    const categories = new Map(scheme.categories.map((category) => [category.value, category]));
    const severities = new Map(scheme.severities.map((severity) => [severity.value, severity.display]));
    const views = [];
    const rated = new Map();
    const summaryBox = scheme.summary ? h("textarea", { class: "summary", rows: 3, placeholder: "About the change as a whole",
      "aria-label": "Summary" }) : null;
    if (summaryBox) summaryBox.addEventListener("input", () => { summary = summaryBox.value; ctx.changed(); });

    // Rows as the index counts them: the header of a hunk is one, too.
    function rowsOf(file) {
      const rows = [];
      for (const hunk of file.hunks) {
        rows.push({ head: hunk.head });
        for (let n = 0; n < hunk.kinds.length; n++)
          rows.push({ kind: hunk.kinds[n], old: hunk.old[n], new: hunk.new[n], text: hunk.text[n], end: hunk.end && hunk.end[n] });
      }
      return rows;
    }
    const sideOf = (row) => (row.kind === "d" ? "LEFT" : "RIGHT");
    const numberOf = (row) => { const shown = row.kind === "d" ? row.old : row.new; return shown === "" ? null : Number(shown); };

    function placeOf(view, first, last) {
      if (last === null) return { file: view.path, line: null };
      let one = Math.min(first, last), two = Math.max(first, last);
      // What begins at the header of a hunk begins below it, what ends there ends above it.
      while (one < two && view.rows[one].head !== undefined) one++;
      while (two > one && view.rows[two].head !== undefined) two--;
      let begin = view.rows[one], end = view.rows[two];
      if (sideOf(begin) === sideOf(end) && (numberOf(begin) || 0) > (numberOf(end) || 0)) { [one, two] = [two, one]; [begin, end] = [end, begin]; }
      const place = { file: view.path, line: numberOf(end), side: sideOf(end) };
      if (place.line === null) place.position = two;
      if (one !== two) {
        place.start_side = sideOf(begin);
        if (numberOf(begin) !== null) place.start_line = numberOf(begin);
        else place.start_position = one;
      }
      return place;
    }
    // The row that a comment stands under; null: the header of the file.
    function rowFor(view, comment) {
      if (comment.line === null || comment.line === undefined)
        return view.rows[comment.position] && view.rows[comment.position].head === undefined ? comment.position : null;
      const side = comment.side || "RIGHT";
      const at = view.rows.findIndex((row) => row.head === undefined && (side === "LEFT"
        ? row.kind !== "a" && Number(row.old) === comment.line && row.old !== ""
        : row.kind !== "d" && Number(row.new) === comment.line && row.new !== ""));
      return at < 0 ? null : at;
    }
    const startOf = (place) => place.start_line ? { line: place.start_line, side: place.start_side || place.side }
      : place.start_position ? { line: null, position: place.start_position } : null;
    // The first and the last row of a place.
    function rangeOf(view, place) {
      const last = rowFor(view, place), start = startOf(place);
      const first = start && last !== null ? rowFor(view, start) : null;
      return last === null ? null : first === null ? [last, last] : [Math.min(first, last), Math.max(first, last)];
    }
    // Of several sections about one file, the one that has the line.
    function viewOf(comment) {
      const named = views.filter((one) => one.path === comment.file || one.oldPath === comment.file);
      return named.find((one) => rowFor(one, comment) !== null) || named[0] || views[0];
    }

    function drawRow(view, at) {
      const row = view.rows[at];
      if (row.head !== undefined) return h("div", { class: "row h", "data-row": at }, h("i", {}), h("i", {}), h("span", {}, text(row.head)));
      return h("div", { class: "row " + row.kind, "data-row": at },
        h("i", { class: "number", role: "button", title: "Comment on this line" }, row.old),
        h("i", { class: "number", role: "button", title: "Comment on this line" }, row.new),
        h("span", {}, SIGNS[row.kind], text(row.text), row.end ? h("small", {}, text(row.end)) : null));
    }

    function drawChunk(view, from) {
      const to = Math.min(from + CHUNK, view.rows.length);
      const chunk = h("div", { class: "chunk", "data-from": from });
      chunk.style.containIntrinsicSize = "auto " + (to - from) * 20 + "px";
      for (let at = from; at < to; at++) chunk.append(drawRow(view, at));
      return chunk;
    }

    const rowElement = (view, at) => view.body.querySelector('.row[data-row="' + at + '"]');
    function slot(view, at) {
      if (at === null) return view.top;
      const row = rowElement(view, at);
      if (!row) return view.top;
      if (!row.nextElementSibling || !row.nextElementSibling.classList.contains("slot")) row.after(h("div", { class: "slot" }));
      return row.nextElementSibling;
    }

    function linesOf(comment) {
      const left = comment.side === "LEFT";
      if (comment.line === null || comment.line === undefined) {
        if (!comment.position) return "the file";
        return comment.start_position ? "lines " + comment.start_position + "–" + comment.position + " of the diff" : "line " + comment.position + " of the diff";
      }
      if (!comment.start_line) return (left ? "old line " : "line ") + comment.line;
      const same = !comment.start_side || comment.start_side === comment.side;
      if (same) return (left ? "old lines " : "lines ") + comment.start_line + "–" + comment.line;
      return (left ? "new line " : "old line ") + comment.start_line + " to " + (left ? "old" : "new") + " line " + comment.line;
    }
    // The lines that a form is about, or that the mouse is going over.
    function paint() {
      for (const row of root.querySelectorAll(".row.picked")) row.classList.remove("picked");
      const ranges = [...open].map((one) => [one.view, rangeOf(one.view, one.place)]);
      if (drag) ranges.push([drag.view, [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)]]);
      for (const [view, range] of ranges)
        for (let at = range ? range[0] : 0; range && at <= range[1]; at++) {
          const row = rowElement(view, at);
          if (row && !row.classList.contains("h")) row.classList.add("picked");
        }
    }

    function drawComment(view, comment) {
      const category = categories.get(comment.category);
      const box = h("div", { class: "comment", color: category ? category.color : "" },
        h("div", { class: "comment-head" }, h("b", { class: "category" }, text(category ? category.display : comment.category || "no category")),
          comment.severity ? h("span", { class: "badge" }, text(severities.get(comment.severity) || comment.severity)) : null,
          h("small", {}, comment.file !== view.path && comment.file !== view.oldPath ? text(comment.file + ", ") : null, linesOf(comment)),
          h("button", { type: "button", class: "edit-comment" }, "Edit"), h("button", { type: "button", class: "delete-comment" }, "Delete")),
        h("div", { class: "comment-text" }, text(comment.text)),
        comment.suggestion ? h("pre", { class: "suggestion" }, text(comment.suggestion)) : null);
      box.querySelector(".edit-comment").addEventListener("click", () => { box.replaceWith(form(view, comment, comment)); paint(); ctx.changed(); });
      box.querySelector(".delete-comment").addEventListener("click", () => {
        comments = comments.filter((one) => one !== comment);
        box.remove();
        ctx.changed();
      });
      return box;
    }

    function form(view, place, comment) {
      let category = comment ? comment.category : "";
      let severity = comment ? comment.severity || "" : "";
      const buttons = scheme.categories.map((one) => h("button", { type: "button", class: "category", color: one.color, title: one.hint,
        "data-category": one.value }, text(one.display)));
      const levels = scheme.severities.map((one) => h("button", { type: "button", class: "severity", "data-severity": one.value }, text(one.display)));
      const words = h("textarea", { class: "words", rows: 3, placeholder: "Comment", "aria-label": "Comment" });
      const code = h("textarea", { class: "code", rows: 3, spellcheck: "false", "aria-label": "Suggested code" });
      words.value = comment ? comment.text || "" : "";
      code.value = comment && comment.suggestion ? comment.suggestion : "";
      const suggest = h("button", { type: "button", class: "suggest" }, "Suggest code");
      const saveButton = h("button", { type: "button", class: "primary save-comment" }, "Save comment");
      const cancel = h("button", { type: "button", class: "cancel-comment" }, "Cancel");
      const problem = h("span", { class: "missing" });
      const lines = h("small", {}, linesOf(place));
      const box = h("div", { class: "comment-form" }, h("div", {}, buttons), levels.length ? h("div", {}, levels) : null,
        words, scheme.suggestions ? [code, suggest] : null, h("div", { class: "actions" }, saveButton, cancel, lines, problem));
      const said = () => [category, severity, words.value, code.value].join("\u0000");
      const before = said();
      const me = {
        view, place, comment,
        isBegun: () => said() !== before,
        // The same form, about other lines.
        move(to, at) {
          me.place = place = to;
          lines.textContent = linesOf(to);
          slot(view, at).append(box);
        },
        close: (next) => {
          open.delete(me);
          if (next) box.replaceWith(next); else box.remove();
          paint();
          ctx.changed();
        },
      };
      open.add(me);
      // The page is told when it begins to matter, not at each letter.
      let told = false;
      const tell = () => { if (me.isBegun() !== told) { told = !told; ctx.changed(); } };
      box.addEventListener("input", tell);
      code.hidden = !code.value;
      suggest.hidden = Boolean(code.value);
      const draw = () => {
        for (const one of buttons) one.classList.toggle("chosen", one.dataset.category === category);
        for (const one of levels) one.classList.toggle("chosen", one.dataset.severity === severity);
      };
      box.addEventListener("click", (event) => {
        const one = event.target.closest("button.category, button.severity");
        if (!one) return;
        if (one.dataset.category !== undefined) category = one.dataset.category;
        else severity = severity === one.dataset.severity ? "" : one.dataset.severity;
        draw();
        tell();
      });
      suggest.addEventListener("click", () => {
        const range = rangeOf(view, place);
        if (range)
          code.value = view.rows.slice(range[0], range[1] + 1).filter((row) => row.head === undefined && row.kind !== "d").map((row) => row.text).join("\n");
        code.hidden = false;
        suggest.hidden = true;
        code.focus();
        tell();
      });
      cancel.addEventListener("click", () => me.close(comment ? drawComment(view, comment) : null));
      saveButton.addEventListener("click", () => {
        if (!category || !words.value.trim()) {
          problem.textContent = !category ? "choose a category" : "write what is to be said";
          return;
        }
        const { severity: oldLevel, suggestion: oldCode, ...rest } = comment || {};
        const made = { ...rest, category, ...placeFields(place), text: words.value };
        if (severity) made.severity = severity;
        if (code.value) made.suggestion = code.value;
        const at = comments.indexOf(comment);
        if (at >= 0) comments[at] = made; else comments.push(made);
        me.close(drawComment(view, made));
      });
      box.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); event.stopPropagation(); saveButton.click(); }
        if (event.key === "Escape") { event.stopPropagation(); cancel.click(); }
      });
      draw();
      return box;
    }
    function placeFields(place) {
      const fields = { file: place.file, line: place.line === undefined ? null : place.line };
      for (const key of ["side", "start_line", "start_side", "position", "start_position"])
        if (place[key] !== undefined && place[key] !== null) fields[key] = place[key];
      return fields;
    }
    function ask(view, place, at) {
      // A form in which nothing was begun goes when another place is chosen.
      for (const one of [...open]) if (!one.comment && !one.isBegun()) one.close(null);
      const box = form(view, place, null);
      slot(view, at).append(box);
      paint();
      ctx.changed();
      box.querySelector(".words").focus({ preventScroll: true });
    }
    // Several lines: what was begun at the first of them goes along.
    function askRange(view, first, last) {
      const place = placeOf(view, first, last), at = Math.max(first, last);
      const mine = [...open].find((one) => !one.comment && one.view === view && one.isBegun() && (rangeOf(view, one.place) || []).includes(first));
      if (!mine) return ask(view, place, at);
      mine.move(place, at);
      paint();
      return ctx.changed();
    }
    let drag = null;
    const numberAt = (event, view) => {
      const number = event.target.closest ? event.target.closest("i.number") : null;
      return number && view.body.contains(number) ? Number(number.parentElement.dataset.row) : null;
    };
    function startDrag(view, event) {
      const at = numberAt(event, view);
      if (at === null || event.button !== 0 || event.shiftKey) return;
      // Else the drag would select text.
      event.preventDefault();
      drag = { view, from: at, to: at };
      document.addEventListener("mouseup", endDrag, { once: true });
    }
    function goOn(view, event) {
      const row = drag && drag.view === view && event.target.closest ? event.target.closest(".row[data-row]") : null;
      const at = row ? Number(row.dataset.row) : null;
      if (at === null || at === drag.to || view.rows[at].head !== undefined) return;
      drag.to = at;
      paint();
    }
    function endDrag() {
      const { view, from, to } = drag;
      drag = null;
      if (from === to) return;
      view.from = from;
      askRange(view, from, to);
    }

    function drawRatings(view) {
      if (!scheme.dimensions.length || !view.path || rated.has(view.path)) return null;
      const box = h("div", { class: "ratings" }, scheme.dimensions.map((dimension) => h("div", { class: "rating", "data-dimension": dimension.value },
        h("span", {}, text(dimension.display)), [1, 2, 3, 4, 5].map((value) => h("button", { type: "button", "data-value": value }, value)))));
      box.addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (!button) return;
        const name = button.parentElement.dataset.dimension, value = Number(button.dataset.value);
        const mine = { ...(ratings[view.path] || {}) };
        // Another click takes the rating back.
        if (mine[name] === value) delete mine[name]; else mine[name] = value;
        if (Object.keys(mine).length) ratings[view.path] = mine; else delete ratings[view.path];
        showRatings(view.path);
        ctx.changed();
      });
      rated.set(view.path, box);
      return box;
    }
    function showRatings(path) {
      for (const row of rated.get(path).querySelectorAll(".rating"))
        for (const button of row.querySelectorAll("button"))
          button.classList.toggle("chosen", Number(button.dataset.value) <= ((ratings[path] || {})[row.dataset.dimension] || 0));
    }

    function drawFile(file, n) {
      const view = { path: paths[n], oldPath: (data.index || [])[n] ? data.index[n][1] : null, rows: rowsOf(file), from: null, top: h("div", { class: "slot" }), body: h("div", { class: "lines" }) };
      views.push(view);
      for (let from = 0; from < view.rows.length; from += CHUNK) view.body.append(drawChunk(view, from));
      const about = h("button", { type: "button", class: "comment-file" }, "Comment on file");
      about.addEventListener("click", (event) => { event.preventDefault(); ask(view, { file: view.path, line: null }, null); });
      view.body.addEventListener("mousedown", (event) => startDrag(view, event));
      view.body.addEventListener("mouseover", (event) => goOn(view, event));
      view.body.addEventListener("click", (event) => {
        const at = numberAt(event, view);
        if (at === null) return;
        if (event.shiftKey && view.from !== null && view.from !== at) return askRange(view, view.from, at);
        view.from = at;
        return ask(view, placeOf(view, at, at), at);
      });
      return h("details", { class: "file", open: true, "data-file": view.path },
        h("summary", {}, h("b", { class: "sign " + file.tone }, file.sign), h("code", {}, text(file.old_path && file.old_path !== file.path ? file.old_path + " → " + file.path : file.path)),
          " ", h("small", {}, file.status, " ", h("ins", {}, "+" + (file.added || 0)), " ", h("del", {}, "−" + (file.removed || 0))), view.path ? about : null),
        (file.notes || []).map((note) => h("p", { class: "note" }, text(note))), view.top, view.body, drawRatings(view));
    }

    const root = h("div", { class: "review" },
      (data.notes || []).map((note) => h("p", { class: "note" }, text(note))),
      files.length ? files.map(drawFile) : h("p", { class: "note" }, "The run changed no file: there is nothing to comment on."),
      summaryBox);
    return {
      element: root,
      value() {
        if (!comments.length && !Object.keys(ratings).length && !summary) return undefined;
        const value = { comments, file_ratings: ratings };
        if (summary) value.summary = summary;
        return value;
      },
      missing() {
        const count = begun();
        return count ? [count === 1 ? "a comment is not saved yet" : count + " comments are not saved yet"] : [];
      },
      load(raw) {
        for (const box of root.querySelectorAll(".comment, .comment-form")) box.remove();
        open.clear();
        paint();
        comments = raw && Array.isArray(raw.comments) ? raw.comments.filter((one) => one && typeof one === "object") : [];
        ratings = raw && raw.file_ratings && typeof raw.file_ratings === "object" ? { ...raw.file_ratings } : {};
        summary = raw && typeof raw.summary === "string" ? raw.summary : "";
        if (summaryBox) summaryBox.value = summary;
        for (const comment of comments) {
          const view = viewOf(comment);
          if (view) slot(view, rowFor(view, comment)).append(drawComment(view, comment));
        }
        for (const path of rated.keys()) showRatings(path);
      },
      shown() {
        const count = Object.keys(ratings).length;
        return comments.length + (comments.length === 1 ? " comment" : " comments") + (rated.size ? ", " + count + " of " + rated.size + " files rated" : "");
      },
    };
  });

  // === forms ===

  const pairOf = (data) => (data.pair ? h("div", { class: "two" }, data.pair.map((side) =>
    h("section", {}, h("h3", {}, text(side.label)), clip(side.text)))) : null);

  // What is compared, where the question itself is one of Argilla's.
  widget("pair", ({ data }) => ({ element: pairOf(data), value: () => undefined, missing: () => [], load() {} }));

  let groups = 0;
  const FIELDS = {
    choices(part, changed) {
      const name = "group" + groups++;
      if (part.layout === "select" && !part.many) {
        const select = h("select", {}, h("option", { value: "" }, "choose …"), part.options.map((option) => h("option", { value: option.value }, text(option.display))));
        select.addEventListener("change", changed);
        return { element: select, get: () => select.value || undefined, set: (value) => { select.value = value || ""; } };
      }
      const boxes = part.options.map((option) => h("input", { type: part.many ? "checkbox" : "radio", name, value: option.value }));
      const element = h("div", { class: "options " + (part.layout || "") }, part.low ? h("small", {}, text(part.low)) : null,
        part.options.map((option, n) => h("label", { title: option.tooltip }, boxes[n], text(option.display))),
        part.high ? h("small", {}, text(part.high)) : null);
      element.addEventListener("change", changed);
      // A chosen radio that is clicked again is taken back: no answer is one, too.
      if (!part.many) element.addEventListener("click", (event) => {
        if (event.target.dataset && event.target.matches("input") && event.target.dataset.was === "yes") { event.target.checked = false; changed(); }
        for (const box of boxes) box.dataset.was = box.checked ? "yes" : "";
      });
      return {
        element,
        get() {
          const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
          return part.many ? (chosen.length ? chosen : undefined) : chosen[0];
        },
        set(value) {
          const wanted = Array.isArray(value) ? value : [value];
          for (const box of boxes) { box.checked = wanted.includes(box.value); box.dataset.was = box.checked ? "yes" : ""; }
        },
      };
    },
    number(part, changed) {
      const range = { min: part.minimum, max: part.maximum, step: part.step === undefined ? (part.slider ? null : "any") : part.step };
      const box = h("input", { type: part.slider ? "range" : "number", ...range });
      const shown = h("output", {}, "–");
      let touched = false;
      const draw = () => { shown.textContent = touched ? box.value : "–"; element.classList.toggle("untouched", Boolean(part.slider) && !touched); };
      box.addEventListener("input", () => { touched = true; draw(); changed(); });
      const element = h("div", { class: "number" }, part.low ? h("small", {}, text(part.low)) : null, box, part.slider ? shown : null,
        part.middle ? h("small", {}, text(part.middle)) : null, part.high ? h("small", {}, text(part.high)) : null);
      draw();
      return {
        element,
        // A slider that nobody moved is no answer.
        get: () => (part.slider && !touched) || box.value === "" ? undefined : Number(box.value),
        wrong() {
          if (box.validity.badInput) return "it is no number";
          if (!box.validity.rangeUnderflow && !box.validity.rangeOverflow) return "";
          return part.maximum === undefined ? "at least " + part.minimum : part.minimum === undefined ? "at most " + part.maximum
            : "from " + part.minimum + " to " + part.maximum;
        },
        set(value) { touched = value !== undefined; box.value = touched ? value : ""; draw(); },
      };
    },
    text(part, changed) {
      const box = h("textarea", { rows: part.lines || 1, placeholder: part.placeholder });
      box.addEventListener("input", changed);
      return { element: box, get: () => (box.value ? box.value : undefined), set: (value) => { box.value = value === undefined ? "" : value; } };
    },
    taxonomy(part, changed) {
      const boxes = [];
      const tree = (branches) => h("ul", {}, branches.map((branch) => {
        const box = h("input", { type: "checkbox", value: branch.name });
        boxes.push(box);
        return h("li", {}, h("label", {}, box, text(branch.name)), branch.children.length ? tree(branch.children) : null);
      }));
      const element = tree(part.taxonomy);
      element.addEventListener("change", changed);
      return {
        element,
        get() { const chosen = boxes.filter((box) => box.checked).map((box) => box.value); return chosen.length ? chosen : undefined; },
        set(value) { for (const box of boxes) box.checked = (value || []).includes(box.value); },
      };
    },
    ranker(part, changed) {
      let order = [];
      const element = h("ol", { class: "ranker" });
      const draw = () => {
        element.replaceChildren();
        const left = part.options.filter((option) => !order.includes(option.value));
        const display = new Map(part.options.map((option) => [option.value, option.display]));
        add(element, [
          order.map((value, at) => h("li", {}, text(display.get(value)), at ? h("button", { type: "button", "data-up": at }, "↑") : null,
            h("button", { type: "button", "data-out": at }, "×"))),
          left.map((option) => h("li", { class: "left" }, h("button", { type: "button", "data-in": option.value }, "rank "), text(option.display))),
        ]);
      };
      element.addEventListener("click", (event) => {
        const { up, out, in: into } = event.target.dataset;
        if (up !== undefined) { const at = Number(up); [order[at - 1], order[at]] = [order[at], order[at - 1]]; }
        else if (out !== undefined) order.splice(Number(out), 1);
        else if (into !== undefined) order.push(into);
        else return;
        draw();
        changed();
      });
      draw();
      const wrong = () => (order.length && order.length < part.options.length ? order.length + " of " + part.options.length + " are ranked" : "");
      return { element, wrong, get: () => (order.length ? [...order] : undefined), set(value) { order = [...(value || [])]; draw(); } };
    },
  };

  widget("form", (ctx) => {
    const { scheme, data } = ctx;
    const controls = scheme.parts.map((part) => {
      let field;
      if (scheme.source && part.kind === "text") {
        const box = editor(data.source || "", { show_diff: true, show_edit_distance: true, allow_reset: true }, ctx.changed);
        field = { element: box.element, get: () => box.text(), set: (value) => box.set(typeof value === "string" ? value : box.source) };
      } else {
        field = FIELDS[part.kind](part, ctx.changed);
      }
      return { part, field };
    });
    const sum = h("small", { class: "sum" });
    const root = h("div", { class: "form" }, pairOf(data), controls.map(({ part, field }) => h("div", { class: "part", "data-part": part.key, title: part.tooltip },
      part.title ? h("h3", {}, text(part.title)) : null, field.element)), scheme.total === null ? null : sum);
    const values = () => {
      const found = {};
      for (const { part, field } of controls) { const value = field.get(); if (value !== undefined) found[part.key] = value; }
      return found;
    };
    return {
      element: root,
      value() { const found = values(); return Object.keys(found).length ? { values: found } : undefined; },
      missing() {
        const found = values();
        const lacking = controls.filter(({ part }) => part.required && found[part.key] === undefined);
        const words = lacking.length ? ["no answer yet: " + scheme.description] : [];
        for (const { part, field } of controls) {
          const wrong = field.wrong ? field.wrong() : "";
          if (wrong) words.push((part.title || scheme.description) + ": " + wrong);
        }
        if (scheme.total !== null) {
          const all = Object.values(found);
          const whole = all.reduce((one, two) => one + two, 0);
          sum.textContent = "sum " + Math.round(whole * 1e6) / 1e6 + " of " + scheme.total;
          if (all.length === controls.length && Math.abs(whole - scheme.total) > 1e-6) words.push("the numbers must sum to " + scheme.total);
        }
        return words;
      },
      load(raw) {
        const found = (raw && raw.values) || {};
        for (const { part, field } of controls) field.set(found[part.key]);
      },
      chosen: () => controls.flatMap(({ field }) => { const value = field.get(); return value === undefined ? [] : Array.isArray(value) ? value : [String(value)]; }),
    };
  });

  widget("spans", (ctx) => {
    const { scheme, data } = ctx;
    let spans = [];
    let label = scheme.labels[0].value;
    const labels = new Map(scheme.labels.map((one) => [one.value, one]));
    const none = scheme.unanswerable ? h("input", { type: "checkbox" }) : null;
    const choices = h("div", { class: "span-labels" }, scheme.single ? null : scheme.labels.map((one) => h("button", { type: "button", class: "span-label",
      color: one.color, title: one.tooltip, "data-label": one.value }, text(one.display))));
    const boxes = (data.texts || []).map((one) => {
      // Places are counted in code points, the browser counts code units.
      const points = Array.from(one.text);
      const units = [0];
      for (const point of points) units.push(units[units.length - 1] + point.length);
      const at = new Map(units.map((unit, point) => [unit, point]));
      const pre = h("pre", { class: "marked", "data-field": one.field });
      return { ...one, points, units, at, pre };
    });
    function draw() {
      for (const one of choices.children) one.classList.toggle("chosen", one.dataset.label === label);
      for (const box of boxes) {
        const mine = spans.filter((span) => span.field === box.field);
        const cuts = [...new Set([0, box.points.length, ...mine.flatMap((span) => [span.start, span.end])])].sort((one, two) => one - two);
        box.pre.replaceChildren();
        for (let n = 0; n + 1 < cuts.length; n++) {
          const content = box.points.slice(cuts[n], cuts[n + 1]).join("");
          const over = mine.filter((span) => span.start <= cuts[n] && span.end >= cuts[n + 1]);
          // Not through text(): what is shown must be as long as what is counted.
          if (!over.length) box.pre.append(content);
          else {
            const top = labels.get(over[over.length - 1].label);
            box.pre.append(h("mark", { color: top ? top.color : "", title: over.map((span) => (labels.get(span.label) || { display: span.label }).display).join(", "),
              "data-start": over[over.length - 1].start, "data-end": over[over.length - 1].end }, content));
          }
        }
      }
    }
    function unitsBefore(pre, node, offset) {
      const range = document.createRange();
      range.selectNodeContents(pre);
      range.setEnd(node, offset);
      return range.toString().length;
    }
    function markSelected() {
      const selection = window.getSelection();
      if (!selection || selection.isCollapsed) return;
      const has = (node) => boxes.find((one) => one.pre.contains(node));
      // The mouse may be let go, or pressed, beside the text: what is selected outside of it is none of it.
      const box = has(selection.anchorNode) || has(selection.focusNode);
      if (!box) return;
      const range = selection.getRangeAt(0);
      const whole = document.createRange();
      whole.selectNodeContents(box.pre);
      const early = range.compareBoundaryPoints(Range.START_TO_START, whole) < 0;
      const late = range.compareBoundaryPoints(Range.END_TO_END, whole) > 0;
      const start = early ? 0 : box.at.get(unitsBefore(box.pre, range.startContainer, range.startOffset));
      const end = late ? box.points.length : box.at.get(unitsBefore(box.pre, range.endContainer, range.endOffset));
      selection.removeAllRanges();
      if (start === undefined || end === undefined || start >= end) return;
      const span = { start, end, label, field: box.field, text: box.points.slice(start, end).join("") };
      if (scheme.single) spans = [span];
      else if (!spans.some((one) => one.field === span.field && one.start === start && one.end === end && one.label === label)) spans.push(span);
      if (none) none.checked = false;
      draw();
      ctx.changed();
    }
    choices.addEventListener("click", (event) => {
      const one = event.target.closest(".span-label");
      if (one) { label = one.dataset.label; draw(); }
    });
    const root = h("div", { class: "spans" }, data.question ? h("div", { class: "question" }, clip(data.question)) : null, choices,
      boxes.map((box) => [boxes.length > 1 ? h("h3", {}, text(box.field)) : null, box.pre]), none ? h("label", {}, none, text(scheme.unanswerable)) : null);
    document.addEventListener("mouseup", markSelected);
    for (const box of boxes) {
      box.pre.addEventListener("click", (event) => {
        const mark = event.target.closest("mark");
        const selection = window.getSelection();
        if (!mark || (selection && !selection.isCollapsed)) return;
        spans = spans.filter((span) => !(span.field === box.field && span.start === Number(mark.dataset.start) && span.end === Number(mark.dataset.end)));
        draw();
        ctx.changed();
      });
    }
    if (none) none.addEventListener("change", () => { if (none.checked) spans = []; draw(); ctx.changed(); });
    draw();
    return {
      element: root,
      value() {
        if (none && none.checked) return { spans: [], unanswerable: true };
        return spans.length ? { spans } : undefined;
      },
      missing: () => (scheme.required && !spans.length && !(none && none.checked) ? ["nothing is marked: " + scheme.description] : []),
      load(raw) {
        spans = raw && Array.isArray(raw.spans) ? raw.spans.filter((span) => span && typeof span === "object") : [];
        if (none) none.checked = Boolean(raw && raw.unanswerable);
        draw();
      },
      chosen: () => spans.map((span) => span.label),
    };
  });

  // === core: the page ===

  // How often, and how long apart, the form is looked for: Argilla may draw it after the panel.
  const TRIES = 100;
  const WAIT = 100;

  function start() {
    const root = document.getElementById("potato-bridge");
    const payload = found && found.fields && found.fields[CONFIG.panel] ? decode(found.fields[CONFIG.panel].b64) : null;
    if (!payload) {
      add(root, [h("p", { class: "lost" }, "The record cannot be read: this is not the Argilla that the panel was made for.")]);
      return;
    }
    root.className = "terminal-" + CONFIG.terminal;
    root.tabIndex = -1;
    const frame = (() => { try { return window.frameElement; } catch (error) { return null; } })();
    const status = h("span", { class: "status", role: "status" });
    const lost = h("div", { class: "lost", hidden: true });
    const tools = h("div", { class: "tools" });
    const bar = h("div", { class: "bar" }, status, tools);
    // Nothing can be said before the panel knows where its answer goes.
    const asked = h("div", { class: "asked", inert: true });
    let link = null;
    let written = null;

    function changed() {
      refresh(true);
    }

    function refresh(write) {
      for (const one of shownWidgets) show(one);
      const value = { v: 1, complete: true, schemes: answers() };
      const missing = shownWidgets.filter((one) => one.shown).flatMap((one) => one.made.missing());
      value.complete = missing.length === 0;
      if (link && !link.node.isConnected) link = question(CONFIG.answer) || link;
      // The list view has one form for all the records that are ticked: an answer to this one is none to them.
      const bulk = Boolean(link && link.form.bulk);
      state.complete = value.complete && !bulk;
      state.partial = Object.keys(value.schemes).length > 0 && !bulk;
      status.replaceChildren();
      add(status, bulk ? [h("span", { class: "missing" }, "This list gives all records one answer. Choose the view with one record to answer.")] : [
        shownWidgets.filter((one) => one.shown && one.made.shown).map((one) => one.made.shown()).filter(Boolean).map((words) => h("span", {}, text(words))),
        missing.map((words) => h("span", { class: "missing" }, text(words))),
      ]);
      const answer = encode(value);
      if (link) {
        guard(link.asked.answer);
        // Nothing is written before something was said, so that a page that was only looked at is not changed.
        if (write && !bulk && answer !== link.asked.answer.value && (state.complete || state.partial || link.asked.answer.value)) {
          written = answer;
          link.asked.answer.value = answer;
        }
      } else if (!lost.hidden) {
        lost.querySelector("textarea").value = answer;
      }
      fit();
    }

    function show(one) {
      const conditions = one.scheme.conditions || [];
      one.shown = conditions.every((condition) => {
        const chosen = said(condition.scheme, condition.question);
        const holds = condition.values.length ? chosen.some((word) => condition.values.includes(word)) : chosen.length > 0;
        return holds !== condition.negated;
      });
      one.box.hidden = !one.shown;
    }

    // What was chosen at another scheme: in the panel, or in a question of Argilla.
    function said(name, asked) {
      const other = shownWidgets.find((one) => one.scheme.name === name && one.made.chosen);
      if (other) return other.shown === false ? [] : other.made.chosen();
      const native = question(asked);
      const value = native && native.asked.answer.valuesAnswered;
      return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string" || typeof one === "number")
        .map((one) => decodeURIComponent(String(one)));
    }

    const stepsOf = (steps) => steps.length && CONFIG.step_numbers ? (steps.length === 1 ? " step " : " steps ")
      + steps.slice(0, 12).map((number) => number + 1).join(", ") + (steps.length > 12 ? ", …" : "") : "";

    add(root, [bar, lost]);
    const folded = (cards) => CONFIG.folds_steps
      ? fold("The run: " + cards.length + " entries", () => h("div", { class: "steps" }, cards.map((one) => card(one))), { class: "run" })
      : h("div", { class: "steps" }, cards.map((one) => card(one)));
    add(root, [
      h("section", { class: "task" }, h("h2", {}, text(payload.task.label)), clip(payload.task.text),
        (payload.attachments || []).map(picture)),
      (payload.texts || []).map((one) => h("section", { class: "task" }, h("h2", {}, text(one.label)), clip(one.text))),
      payload.files && payload.files.length && !CONFIG.folds_steps ? h("section", { class: "files" }, h("h2", {}, "Files changed"),
        payload.files.map((file) => h("div", {}, h("code", {}, text((file.old_path ? file.old_path + " → " : "") + file.path)), " ",
          h("small", {}, file.change, " ", h("ins", {}, "+" + (file.plus || 0)), " ", h("del", {}, "−" + (file.minus || 0)),
            stepsOf(file.steps || []))))) : null,
      payload.cards && !CONFIG.shows_steps ? folded(payload.cards) : null,
      asked,
    ]);
    for (const scheme of CONFIG.schemes) {
      if (!WIDGETS[scheme.widget]) continue;
      const made = WIDGETS[scheme.widget]({ scheme, payload, changed, data: (payload.schemes || {})[scheme.name] || {} });
      const box = h("section", { class: "scheme", "data-scheme": scheme.name },
        h("h2", {}, text(scheme.description), scheme.required ? h("b", { class: "star" }, " *") : null), made.element);
      shownWidgets.push({ scheme, made, box, shown: true });
      add(asked, [box]);
      // What must be at hand wherever one is in a long trace.
      if (made.tools) add(tools, [h("div", { class: "tool-group", title: scheme.description, "data-scheme": scheme.name }, made.tools)]);
    }

    // Shows a saved answer; says whether all of it could be shown.
    function load(saved, settled) {
      let value = null;
      try { value = saved ? JSON.parse(saved) : {}; } catch (error) { /* It is shown as it is. */ }
      const schemes = value && value.schemes && typeof value.schemes === "object" ? value.schemes : {};
      let whole = Boolean(value) && (!saved || schemes === value.schemes)
        && Object.keys(schemes).every((name) => shownWidgets.some((one) => one.scheme.name === name));
      for (const one of shownWidgets) {
        const raw = schemes[one.scheme.name];
        // An answer that somebody else wrote must not keep the panel from showing the rest.
        try { one.made.load(raw, settled && value.complete === true); } catch (error) { whole = false; }
        if (raw !== undefined && !isSame(one.made.value(), raw)) whole = false;
      }
      root.querySelectorAll(".unread").forEach((one) => one.remove());
      if (!whole) lost.after(h("div", { class: "lost unread" },
        h("p", {}, "Not all of the saved answer can be shown here. It stays as it is until you change something; then what you see takes its place."),
        fold("The saved answer", () => h("pre", {}, text(saved)))));
    }

    // With several schemes, keys are for the one that was used last.
    let active = null;
    for (const kind of ["mousedown", "focusin"])
      asked.addEventListener(kind, (event) => { active = event.target.closest(".scheme"); });
    document.addEventListener("keydown", (event) => {
      if (link && (event.ctrlKey || event.metaKey) && !event.altKey && (event.key === "s" || event.key === "Enter")) {
        // Argilla's own keys to save and to submit work while one writes here, too.
        event.preventDefault();
        window.parent.document.dispatchEvent(new window.parent.KeyboardEvent("keydown", event.key === "s"
          ? { key: "s", code: "KeyS", ctrlKey: event.ctrlKey, metaKey: event.metaKey } : { key: "Enter", code: "Enter" }));
        return;
      }
      if (asked.inert || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
      const order = [...shownWidgets].sort((one, two) => (two.box === active) - (one.box === active));
      for (const one of order)
        if (one.shown && one.made.key && one.made.key(event)) { event.preventDefault(); event.stopPropagation(); return; }
    });

    // The frame is as high as the panel, and Argilla scrolls it: the bar goes along.
    let height = 0;
    function fit() {
      const now = Math.ceil(root.getBoundingClientRect().height) + 16;
      if (frame && now !== height) { height = now; frame.style.height = now + "px"; }
    }
    new ResizeObserver(fit).observe(root);
    window.addEventListener("load", () => { height = 0; fit(); });
    const scroller = (() => {
      try {
        for (let node = frame && frame.parentElement; node; node = node.parentElement)
          if (/auto|scroll/.test(window.parent.getComputedStyle(node).overflowY)) return node;
      } catch (error) { /* There is nothing to follow. */ }
      return null;
    })();
    function follow() {
      if (!frame.isConnected) return scroller.removeEventListener("scroll", follow);
      const above = scroller.getBoundingClientRect().top - frame.getBoundingClientRect().top;
      const most = root.getBoundingClientRect().height - bar.offsetHeight;
      bar.style.transform = above > 0 ? "translateY(" + Math.min(above, most) + "px)" : "";
      bar.classList.toggle("floats", above > 0);
      return undefined;
    }
    if (scroller) {
      scroller.addEventListener("scroll", follow, { passive: true });
      let going = 0;
      reveal = (element) => {
        let still = 0;
        const put = (frames) => {
          const view = scroller.getBoundingClientRect(), box = element.getBoundingClientRect();
          const under = bar.offsetHeight + 12;
          // In the middle of what the bar leaves; from its beginning where it is higher than that.
          const space = Math.max((view.height - under - box.height) / 2, 0);
          const off = Math.round(frame.getBoundingClientRect().top + box.top - view.top - under - space);
          if (off) scroller.scrollTop += off;
          // Cards that come near are drawn first then, have their height, and move the others.
          still = off ? 0 : still + 1;
          if (frames > 0 && still < 4) going = requestAnimationFrame(() => put(frames - 1));
        };
        cancelAnimationFrame(going);
        put(30);
      };
      for (const kind of ["wheel", "pointerdown"]) window.addEventListener(kind, () => cancelAnimationFrame(going), { passive: true });
    }

    function connect(tries) {
      link = question(CONFIG.answer);
      if (link) {
        const { answer } = link.asked;
        const record = link.form.record;
        const pending = record ? record.isPending : !answer.value;
        asked.inert = link.form.bulk;
        // A pending record has what was suggested, or what was said before one went on to another record.
        load(answer.value, !pending || answer.value !== answer.originalValue);
        // What was saved is not touched by looking at it.
        refresh(pending);
        askAgain(answer);
        quiet(link);
        watch();
        document.body.dataset.bridge = "ready";
      } else if (tries > 0) {
        setTimeout(() => connect(tries - 1), WAIT);
      } else {
        lost.hidden = false;
        asked.inert = false;
        const box = h("textarea", { readonly: true, rows: 3, "aria-label": "Answer to paste" });
        const copy = h("button", { type: "button" }, "Copy");
        copy.addEventListener("click", () => { box.select(); document.execCommand("copy"); copy.textContent = "Copied"; });
        add(lost, [h("p", {}, "This Argilla does not let the panel write its answer. When you are done, copy it from here and "
          + "paste it into the question “Answer”."), box, copy]);
        const mine = saved();
        load(mine.text, mine.settled);
        refresh(true);
        document.body.dataset.bridge = "lost";
      }
    }
    function saved() {
      const mine = (found.responses || []).find((one) => one.values && one.values[CONFIG.answer]);
      if (mine) return { text: mine.values[CONFIG.answer].value, settled: true };
      const suggested = (found.suggestions || []).find((one) => typeof one.value === "string" && one.value.startsWith('{"v":'));
      return { text: suggested ? suggested.value : "", settled: false };
    }

    function watch() {
      try {
        // Argilla takes an answer back, or puts in another one.
        link.view.$watch(() => link.asked.answer.value, (value) => {
          if (value === written || !frame.isConnected) return;
          written = value;
          load(value, Boolean(link.form.record) && !link.form.record.isPending);
          refresh(!value);
        });
        const others = new Set(CONFIG.schemes.flatMap((scheme) => scheme.conditions || []).map((condition) => condition.question));
        for (const name of others) {
          const native = question(name);
          if (native) native.view.$watch(() => JSON.stringify(native.asked.answer.valuesAnswered), () => { if (frame.isConnected) changed(); });
        }
      } catch (error) { /* Then the panel shows it when the record is opened again. */ }
    }

    // The raw answer is of no use to people, and what they type must not get into it.
    function quiet({ node }) {
      const title = node.querySelector(".title-area"), place = node.parentElement;
      node.inert = true;
      // Beside other questions it is gone; alone, its title says why there is nothing to fill in.
      if (title && place && place.parentElement && place.parentElement.childElementCount > 1
        && (place.getAttribute("aria-label") || "").startsWith("Question:")) place.style.display = "none";
      for (const part of node.children) if (title && part !== title) part.style.display = "none";
      if (!title) Object.assign(node.style, { maxHeight: "5.5em", overflow: "auto", opacity: "0.6" });
      // Argilla begins in that box. Keys are for the panel, unless somebody is at another place of the page.
      const now = window.parent.document.activeElement;
      if (!link.form.bulk && (!now || now === window.parent.document.body || node.contains(now))) {
        window.focus();
        root.focus({ preventScroll: true });
      }
    }
    connect(host ? TRIES : 5);
  }

  start();
})();
