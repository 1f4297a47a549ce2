// A drawing that can be zoomed and moved: buttons, wheel, pointer, keys. It is an <img>: nothing in it can run.

const STEP = 1.25;
const LEAST = 0.02;
const MOST = 16;
const MOVE = 80;
const READABLE = 0.6; // of a large drawing, a part that can be read is shown first

export default function ({ parentElement, data }) {
  const stage = parentElement.querySelector(".stage");
  const image = parentElement.querySelector("img");
  const shown = parentElement.querySelector("output");
  const left = new AbortController();
  const { signal } = left;
  let [x, y, scale] = [0, 0, 1];
  let fitted = "begin";

  function draw() {
    image.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    shown.textContent = `${Math.round(scale * 100)} %`;
  }

  function zoom(factor, atX = stage.clientWidth / 2, atY = stage.clientHeight / 2) {
    const next = Math.min(MOST, Math.max(LEAST, scale * factor));
    x = atX - ((atX - x) * next) / scale;
    y = atY - ((atY - y) * next) / scale;
    scale = next;
    fitted = "";
    draw();
  }

  function fit(how) {
    const { naturalWidth: width, naturalHeight: height } = image;
    if (!width || !stage.clientWidth) return;
    const across = stage.clientWidth / width;
    const whole = Math.min(across, stage.clientHeight / height);
    scale = { begin: Math.min(1, Math.max(READABLE, across)), width: across, fit: whole, real: 1 }[how];
    x = (stage.clientWidth - width * scale) / 2;
    y = how === "fit" ? (stage.clientHeight - height * scale) / 2 : 0;
    fitted = how;
    draw();
  }

  function move(byX, byY) {
    x += byX;
    y += byY;
    fitted = "";
    draw();
  }

  const actions = {
    in: () => zoom(STEP),
    out: () => zoom(1 / STEP),
    width: () => fit("width"),
    fit: () => fit("fit"),
    real: () => fit("real"),
  };
  const keys = {
    "+": actions.in,
    "=": actions.in,
    "-": actions.out,
    0: actions.fit,
    1: actions.real,
    w: actions.width,
    ArrowLeft: () => move(MOVE, 0),
    ArrowRight: () => move(-MOVE, 0),
    ArrowUp: () => move(0, MOVE),
    ArrowDown: () => move(0, -MOVE),
  };

  for (const button of parentElement.querySelectorAll("button")) {
    button.addEventListener("click", () => actions[button.dataset.do](), { signal });
  }
  stage.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
      event.preventDefault();
      event.stopPropagation();
      keys[event.key]();
    },
    { signal },
  );
  stage.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const box = stage.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
    },
    { signal, passive: false },
  );
  stage.addEventListener(
    "pointerdown",
    (event) => {
      stage.setPointerCapture(event.pointerId);
      stage.classList.add("moving");
    },
    { signal },
  );
  stage.addEventListener(
    "pointermove",
    (event) => {
      if (stage.hasPointerCapture(event.pointerId)) move(event.movementX, event.movementY);
    },
    { signal },
  );
  for (const end of ["pointerup", "pointercancel"]) {
    stage.addEventListener(end, () => stage.classList.remove("moving"), { signal });
  }
  const sizes = new ResizeObserver(() => fitted && fit(fitted));
  sizes.observe(stage);
  image.addEventListener("load", () => fit("begin"), { signal });
  if (image.src !== data.address) {
    image.src = data.address;
    image.alt = data.label;
    stage.setAttribute("aria-label", data.label);
  } else {
    fit("begin");
  }

  return () => {
    left.abort();
    sizes.disconnect();
  };
}
