/* global H5P, document */

/** A content type for H5P that shows a lesson of text and pictures, step by step. */
H5P.BenchLesson = class extends H5P.EventDispatcher {
  constructor({ steps }, contentId) {
    super();
    this.steps = steps;
    this.contentId = contentId;
    this.index = 0;
  }

  /** @param $container jQuery's */
  attach($container) {
    this.root = $container.get(0);
    this.show();
  }

  show() {
    const { title, before, picture, after } = this.steps[this.index];
    const heading = document.createElement('h1');
    heading.textContent = title;
    const image = document.createElement('img');
    image.alt = picture.alt;
    image.addEventListener('load', () => this.trigger('resize'));
    image.src = H5P.getPath(`images/${picture.name}`, this.contentId);
    const caption = document.createElement('figcaption');
    caption.innerHTML = picture.caption;
    const figure = document.createElement('figure');
    figure.append(image, caption);
    const [textBefore, textAfter] = [before, after].map((html) => {
      const text = document.createElement('div');
      text.innerHTML = html;
      return text;
    });
    const next = document.createElement('button');
    next.textContent = 'Next';
    next.disabled = this.index === this.steps.length - 1;
    next.addEventListener('click', () => {
      this.index += 1;
      this.show();
    });
    this.root.replaceChildren(heading, textBefore, figure, textAfter, next);
    this.trigger('resize');
  }
};
