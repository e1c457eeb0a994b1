// What is known of a table: the snapshot of the contract, kept up to date by folding events.

import { create } from "@bufbuild/protobuf";
import { type Decision, DecisionKind } from "../gen/odin_table/v1/decision_pb.js";
import { type Event, LeaveReason, type Presence } from "../gen/odin_table/v1/event_pb.js";
import {
  GameViewSchema,
  HandSchema,
  Occupant,
  type Player,
  PlayerSchema,
  type Seat,
  SeatSchema,
  TablePhase,
  type TableView,
} from "../gen/odin_table/v1/table_pb.js";

const HAND_SIZE = 9;

export class Table {
  /** As a snapshot after the last event would be. */
  view: TableView;
  presence: Presence | undefined;

  constructor(view: TableView) {
    this.view = view;
  }

  /** Our seat, when we have one. */
  get me(): Seat | undefined {
    const { seats, yourSeat } = this.view;
    return yourSeat === undefined ? undefined : seats[yourSeat];
  }

  /** What we have to decide now, if anything. */
  get myDecision(): Decision | undefined {
    const { decision, yourSeat } = this.view;
    return decision?.seat === yourSeat && decision?.choices ? decision : undefined;
  }

  get picksUp(): boolean {
    return this.myDecision?.kind === DecisionKind.PICK_UP;
  }

  /** Whether the game or the next deal waits for everybody to be ready. */
  get paused(): boolean {
    const { phase } = this.view;
    return phase === TablePhase.WAITING || phase === TablePhase.BETWEEN_DEALS;
  }

  /** Whether somebody can sit down now. */
  get hasRoom(): boolean {
    const free = ({ occupant, abandoned }: Seat) =>
      this.view.phase === TablePhase.WAITING
        ? occupant === Occupant.UNSPECIFIED
        : this.view.phase !== TablePhase.CLOSED && abandoned;
    return this.view.seats.some(free);
  }

  /** The seats that somebody holds, those of a game in its order. */
  get taken(): Seat[] {
    return this.view.seats.filter(({ occupant }) => occupant !== Occupant.UNSPECIFIED);
  }

  name(seat: number | undefined): string {
    const known = seat === undefined ? "" : (this.view.seats[seat]?.name ?? "");
    return known || `seat ${(seat ?? 0) + 1}`;
  }

  player(seat: number): Player | undefined {
    return this.view.game?.players.find((player) => player.seat === seat);
  }

  /** Who plays the game at a seat, or has played it, whoever sits there now. */
  playerName(seat: number | undefined): string {
    return (seat !== undefined && this.player(seat)?.name) || this.name(seat);
  }

  /** The player of the game whom this seat is, if it has not been taken by somebody new since. */
  playing({ seat, name }: Seat): Player | undefined {
    const player = this.player(seat);
    return player && (player.name || name) === name ? player : undefined;
  }

  /** The name of who leaves with this event. To be asked before it is folded. */
  leaver({ payload }: Event): string {
    return payload.case === "seatLeft" ? this.name(payload.value.seat) : "";
  }

  /** Whether the host removes us with this event. To be asked before it is folded. */
  removesMe({ payload }: Event): boolean {
    return (
      payload.case === "seatLeft" &&
      payload.value.seat === this.view.yourSeat &&
      payload.value.reason === LeaveReason.REMOVED
    );
  }

  /** Whether the person at a seat is not there. */
  away(seat: number): boolean {
    return this.presence?.seats.some((one) => one.seat === seat && !one.connected) ?? false;
  }

  /** Folds an event. What this version does not know is stepped over. */
  apply({ seq, payload }: Event): void {
    const { view } = this;
    const { game } = view;
    view.seq = seq;
    switch (payload.case) {
      case "tableOpened":
        if (payload.value.options) {
          view.options = payload.value.options;
        }
        view.phase = TablePhase.WAITING;
        break;
      case "seatTaken":
        if (payload.value.seat) {
          this.#setSeat(payload.value.seat);
          this.#playUnderANewName(payload.value.seat);
        }
        break;
      case "seatLeft":
        this.#setSeat(create(SeatSchema, { seat: payload.value.seat }));
        break;
      case "hostChanged":
        for (const seat of view.seats) {
          seat.host = seat.seat === payload.value.seat;
        }
        view.youAreHost = payload.value.seat !== undefined && payload.value.seat === view.yourSeat;
        break;
      case "readyChanged":
        this.#change(payload.value.seat, { ready: payload.value.ready });
        this.#addsByDeal1(payload.value);
        break;
      case "substituteSeated": {
        const abandoned = payload.value.reason === LeaveReason.LEFT;
        const nonce = new Uint8Array();
        this.#change(payload.value.seat, { substituted: true, ready: true, abandoned, nonce });
        break;
      }
      case "seatResumed":
        this.#change(payload.value.seat, { substituted: false, ready: false, abandoned: false });
        break;
      case "rematchAsked":
        view.phase = TablePhase.WAITING;
        this.#askWhoIsReady();
        this.#change(payload.value.seat, { ready: true });
        this.#addsByDeal1(payload.value);
        break;
      case "tableClosed":
        view.phase = TablePhase.CLOSED;
        delete view.decision;
        delete view.nextDealTime;
        break;
      case "gameStarted": {
        const { seats, removedColours } = payload.value;
        const players = seats.map((seat) =>
          create(PlayerSchema, { seat, name: view.seats[seat]?.name ?? "" }),
        );
        const number = payload.value.game;
        view.game = create(GameViewSchema, { game: number, removedColours, players });
        view.phase = TablePhase.PLAYING;
        break;
      }
      case "decisionOpened":
        if (payload.value.decision) {
          view.decision = payload.value.decision;
        }
        break;
      case "deadlineMoved":
        if (payload.value.deadline && view.decision) {
          view.decision.deadline = payload.value.deadline;
        } else if (payload.value.deadline) {
          view.nextDealTime = payload.value.deadline;
        }
        break;
      case "dealCommitted":
        view.commitment = payload.value.commitment;
        if (payload.value.source) {
          view.source = payload.value.source;
        } else {
          delete view.source;
        }
        break;
      case "nonceGiven":
        this.#change(payload.value.seat, { nonce: payload.value.nonce });
        break;
      case "stretchedDealRevealed":
      case "dealRevealed":
        if (game) {
          game.secret = payload.value.secret;
        }
        break;
      case "dealStarted": {
        view.commitment = new Uint8Array();
        delete view.source;
        for (const seat of view.seats) {
          seat.nonce = new Uint8Array();
        }
        if (game) {
          game.deal = payload.value.deal;
          game.opener = payload.value.opener;
          game.commitment = payload.value.commitment;
          game.nonces = payload.value.nonces;
          if (payload.value.source) {
            game.source = payload.value.source;
          } else {
            delete game.source;
          }
          game.secret = new Uint8Array();
          game.remainingHands = [];
          game.discarded = [];
          delete game.outSeat;
          this.#setCentre();
          for (const player of game.players) {
            player.cardCount = HAND_SIZE;
          }
          if (payload.value.hand) {
            game.hand = payload.value.hand;
          }
        }
        view.phase = TablePhase.PLAYING;
        delete view.nextDealTime;
        break;
      }
      case "cardsPlayed": {
        const { seat, cards, value, cardCount } = payload.value;
        this.#counted(seat, cardCount, (hand) => hand.filter((card) => !cards.includes(card)));
        if (game) {
          Object.assign(game, { centre: cards, centreValue: value, centreSeat: seat });
        }
        break;
      }
      case "cardPickedUp": {
        const { seat, card, cardCount, discarded } = payload.value;
        this.#counted(seat, cardCount, (hand) => [...hand, card]);
        game?.discarded.push(...discarded);
        break;
      }
      case "passed": {
        const player = this.player(payload.value.seat);
        if (player) {
          player.passed = true;
        }
        delete view.decision;
        break;
      }
      case "roundEnded":
        game?.discarded.push(...payload.value.discarded);
        this.#setCentre();
        break;
      case "dealEnded":
        for (const { seat, penalty, total } of payload.value.scores) {
          const player = this.player(seat);
          player?.penalties.push(penalty);
          Object.assign(player ?? {}, { total });
        }
        if (game) {
          game.outSeat = payload.value.outSeat;
          game.remainingHands = payload.value.scores.map(({ seat, remaining }) =>
            create(HandSchema, { seat, cards: remaining }),
          );
        }
        if (payload.value.nextDealTime) {
          view.nextDealTime = payload.value.nextDealTime;
        }
        view.phase = TablePhase.BETWEEN_DEALS;
        delete view.decision;
        this.#askWhoIsReady();
        break;
      case "gameEnded":
        view.phase = TablePhase.GAME_OVER;
        if (game) {
          game.winners = payload.value.winners;
        }
        break;
    }
  }

  /** We have taken this seat; what goes with it comes in events. */
  sitDown(seat: number): void {
    this.view.yourSeat = seat;
    this.view.youAreHost ||= this.me?.host ?? false;
  }

  #setSeat(seat: Seat): void {
    const before = this.view.seats[seat.seat];
    if (seat.seat === this.view.yourSeat && before?.name !== seat.name) {
      delete this.view.yourSeat; // it is somebody else's, or nobody's
      delete this.view.game?.hand;
    }
    this.view.seats[seat.seat] = seat;
  }

  /** Who sits down during a game gives the player their name. */
  #playUnderANewName({ seat, name }: Seat): void {
    const player = this.player(seat);
    const { phase } = this.view;
    if (player && (phase === TablePhase.PLAYING || phase === TablePhase.BETWEEN_DEALS)) {
      player.name = name;
    }
  }

  #change(seat: number, change: Partial<Seat>): void {
    Object.assign(this.view.seats[seat] ?? {}, change);
  }

  /** People have to say so anew; whoever else plays always is. */
  /** By deal/2 being ready says nothing of nonces. */
  #addsByDeal1({ seat, nonce }: { seat: number; nonce: Uint8Array }): void {
    if (!this.view.source) {
      this.#change(seat, { nonce });
    }
  }

  #askWhoIsReady(): void {
    for (const seat of this.view.seats) {
      seat.ready &&= seat.occupant !== Occupant.PERSON || seat.substituted;
    }
  }

  #setCentre(): void {
    const { game } = this.view;
    if (game) {
      Object.assign(game, { centre: [], centreValue: 0 });
      delete game.centreSeat;
      for (const player of game.players) {
        player.passed = false;
      }
    }
  }

  /** A seat did something with its cards, and has decided. */
  #counted(seat: number, cardCount: number, change: (hand: number[]) => number[]): void {
    const hand = this.view.game?.hand;
    Object.assign(this.player(seat) ?? {}, { cardCount, passed: false });
    if (hand && hand.seat === seat) {
      hand.cards = change(hand.cards);
    }
    delete this.view.decision;
  }
}
